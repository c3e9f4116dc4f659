/** Runs the built file as a single master for the duration of a benchmark. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeyAndCertificate } from '../../src/pki/x509.ts';
import { executable } from '../e2e/harness/cluster.ts';
import { end } from '../e2e/harness/host.ts';
import { killIfThere, processesNaming } from '../e2e/harness/processes.ts';
import { waitFor } from '../e2e/harness/wait-for.ts';
import { freePort } from '../fixtures/free-port.ts';

export interface BenchMaster {
  readonly process: ChildProcess;
  readonly dataDir: string;
  /** URL of the server, such as `https://127.0.0.1:6443`. */
  readonly server: string;
  readonly authority: KeyAndCertificate;
  /** Restarts the master with its stored data; resolves with the new process. */
  restart(): Promise<ChildProcess>;
}

/**
 * Starts a master with the data that `prepare` wrote to its directory; stops the master and its etcd when
 * `measure` is over.
 */
export async function withMaster<T>(
  flags: readonly string[],
  measure: (master: BenchMaster) => Promise<T>,
  prepare?: (dataDir: string) => Promise<void>,
): Promise<T> {
  if (!existsSync(executable)) throw new Error(`${executable} is missing; run npm run build`);
  const dataDir = mkdtempSync(join(tmpdir(), 'minik8s-bench-'));
  try {
    await prepare?.(dataDir);
    const port = await freePort();
    const all = [`--port=${port}`, `--data-dir=${dataDir}`, ...flags];
    let process = await start(all);
    const restart = async () => {
      await end(process, 'SIGTERM');
      process = await start(all);
      return process;
    };
    const authority = {
      key: readFileSync(join(dataDir, 'pki/ca.key'), 'utf8'),
      certificate: readFileSync(join(dataDir, 'pki/ca.crt'), 'utf8'),
    };
    return await measure({ process, dataDir, server: `https://127.0.0.1:${port}`, authority, restart });
  } finally {
    for (const pid of processesNaming(dataDir)) killIfThere(pid);
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function start(flags: readonly string[]): Promise<ChildProcess> {
  const child = spawn(executable, ['master', ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await waitFor('minik8s master', () => output.includes('minik8s is ready') || child.exitCode !== null, {
    timeoutMs: 60_000,
  });
  if (child.exitCode !== null) throw new Error(`minik8s master ended with ${child.exitCode}`);
  return child;
}
