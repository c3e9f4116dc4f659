/** Runs Kubernetes' own API server with an etcd of its own for the duration of a measurement. */
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { createAuthority, issueCertificate, type KeyAndCertificate } from '../../../src/pki/x509.ts';
import { startEmbeddedEtcd } from '../../../src/storage/embedded-etcd.ts';
import { etcdBinary } from '../../fixtures/etcd-binary.ts';
import { freePort } from '../../fixtures/free-port.ts';
import { buildPrograms, programsCache } from '../../kubernetes-suite/build.ts';
import { linkerFlags, suiteVersion } from '../../kubernetes-suite/versions.ts';

export const kubernetesVersion = suiteVersion;

export interface KubeApiserver {
  readonly pid: number;
  readonly etcdPid: number;
  readonly port: number;
  readonly authority: KeyAndCertificate;
  /** Returns its last output if it has ended. */
  failure(): string | undefined;
}

/** Returns the path of the program. Builds the program if it does not exist, which takes minutes. */
export async function kubeApiserverProgram(say: (line: string) => void): Promise<string> {
  const name = 'kube-apiserver';
  const program = join(programsCache, suiteVersion, name);
  if (!existsSync(program)) {
    const args = [
      'build',
      '-ldflags',
      linkerFlags(suiteVersion),
      '-o',
      name,
      `k8s.io/kubernetes/cmd/${name}`,
    ];
    await buildPrograms(suiteVersion, [{ name, args, note: 'which takes minutes the first time' }], say);
  }
  return program;
}

/**
 * Starts it as it is usually run: authorization modes RBAC and Node, the default admission plugins, priority
 * and fairness. Its etcd is the program that minik8s starts for itself, with the same flags.
 */
export async function withKubeApiserver<T>(
  program: string,
  measure: (server: KubeApiserver) => Promise<T>,
): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'kube-apiserver-bench-'));
  const stopping = new AbortController();
  const binaries = { binary: etcdBinary, earlierBinary: etcdBinary };
  const etcd = await startEmbeddedEtcd({
    ...binaries,
    dataDir: join(directory, 'etcd'),
    clock: systemClock,
    log: silentLogger,
    signal: stopping.signal,
  });
  try {
    const { authority, flags } = await credentials(directory);
    const port = await freePort();
    const log = join(directory, 'log');
    const child = spawn(
      program,
      [
        `--etcd-servers=${etcd.endpoints.join(',')}`,
        `--secure-port=${port}`,
        '--bind-address=127.0.0.1',
        '--endpoint-reconciler-type=none',
        '--service-cluster-ip-range=10.96.0.0/16',
        '--authorization-mode=Node,RBAC',
        ...flags,
      ],
      { stdio: ['ignore', openSync(log, 'w'), openSync(log, 'a')] },
    );
    const ended = once(child, 'exit');
    try {
      const { pid = 0 } = child;
      const etcdPid = etcd.pid() ?? 0;
      return await measure({ pid, etcdPid, port, authority, failure: () => failureOf(child, log) });
    } finally {
      if (child.kill('SIGKILL')) await ended;
    }
  } finally {
    stopping.abort();
    await etcd.stop();
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

function failureOf({ exitCode }: ChildProcess, log: string): string | undefined {
  if (exitCode === null) return undefined;
  return `kube-apiserver ended with ${exitCode}: ${readFileSync(log, 'utf8').trim().split('\n').at(-1)}`;
}

async function credentials(directory: string) {
  const day = 24 * 3600 * 1000;
  const validity = { notBefore: Date.now() - day, notAfter: Date.now() + day };
  const authority = await createAuthority('bench', validity.notBefore, validity.notAfter);
  const serving = await issueCertificate(authority, {
    commonName: 'kube-apiserver',
    hosts: ['127.0.0.1'],
    usages: ['server'],
    ...validity,
  });
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const file = (name: string, content: string) => {
    const path = join(directory, `pki-${name}`);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  };
  const accounts = file('accounts.key', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  return {
    authority,
    flags: [
      `--client-ca-file=${file('ca.crt', authority.certificate)}`,
      `--tls-cert-file=${file('tls.crt', serving.certificate)}`,
      `--tls-private-key-file=${file('tls.key', serving.key)}`,
      '--service-account-issuer=https://bench.example.com',
      `--service-account-signing-key-file=${accounts}`,
      `--service-account-key-file=${accounts}`,
    ],
  };
}
