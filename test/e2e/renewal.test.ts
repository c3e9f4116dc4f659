/** A node with certificates that are valid for seconds: it renews them in time, without any disruption. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect } from 'node:tls';
import type { V1Lease } from '@kubernetes/client-node';
import { NodeFiles } from '../../src/node-bootstrap/node-files.ts';
import { type CertificateRequest, issueCertificate } from '../../src/pki/x509.ts';
import { anyKubectl } from '../fixtures/kubectls.ts';
import { end } from './harness/host.ts';
import { MultiCluster } from './harness/multi-cluster.ts';
import { waitFor } from './harness/wait-for.ts';

const day = 24 * 3600 * 1000;
/**
 * Certificates are renewed when 27 to 9 s are left: a node has that long to start, and then that long to
 * renew.
 */
const lifeMs = 90_000;
const leftMs = 48_000;

test('certificates that expire soon are renewed while the node works', async (context) => {
  const cluster = await MultiCluster.start(context, { hosts: 1 });
  const { kubectl, master } = cluster;
  const node = cluster.node('node-0');
  const files = new NodeFiles(join(node.dataDir, 'node'));
  const container = {
    name: 'ticks',
    image: 'minik8s/hello:1',
    imagePullPolicy: 'Never',
    command: ['busybox', 'sh', '-c', 'while date +%s; do busybox sleep 1; done'],
  };
  const overrides = JSON.stringify({ spec: { containers: [container] } });
  await kubectl('run', 'ticks', '--image=minik8s/hello:1', `--overrides=${overrides}`);
  await kubectl('wait', '--for=condition=Ready', 'pod/ticks', '--timeout=60s');

  await node.role.end('SIGTERM');
  const pki = (name: string) => readFileSync(join(cluster.masterDataDir, 'pki', name), 'utf8');
  const authority = { key: pki('ca.key'), certificate: pki('ca.crt') };
  const notAfter = Date.now() + leftMs;
  const hold = async (name: 'client' | 'serving', more: Pick<CertificateRequest, 'usages' | 'hosts'>) => {
    const subject = { commonName: 'system:node:node-0', organizations: ['system:nodes'] };
    const life = { notBefore: notAfter - lifeMs, notAfter };
    const pair = await issueCertificate(authority, { ...subject, ...life, ...more });
    await files.writePair(name, pair);
    return new X509Certificate(pair.certificate).serialNumber;
  };
  const client = await hold('client', { usages: ['client'] });
  const serving = await hold('serving', { usages: ['server'], hosts: ['node-0', node.host.address] });
  const held = async (name: 'client' | 'serving') => {
    const pair = await files.pair(name);
    assert.ok(pair);
    return new X509Certificate(pair.certificate);
  };
  await node.role.start(/^minik8s is ready: node node-0/m);
  assert.equal(
    (await shownBy(node.host.address)).serialNumber,
    serving,
    'a request with the certificate that expires soon',
  );

  const log = join(node.host.directory, 'ticks.log');
  const reader = spawn('sh', ['-c', 'exec "$0" logs --follow ticks >"$1"', anyKubectl(), log], {
    env: { ...process.env, KUBECONFIG: cluster.kubeconfig },
    stdio: 'ignore',
  });
  context.after(() => end(reader, 'SIGKILL'));

  await context.test('the node gets certificates for a year before the first ones expire', async () => {
    for (const [name, first] of [
      ['client', client],
      ['serving', serving],
    ] as const) {
      await waitFor(`another ${name} certificate`, async () => (await held(name)).serialNumber !== first);
      const { validToDate } = await held(name);
      assert.ok(validToDate.getTime() > Date.now() + 364 * day, validToDate.toISOString());
    }
    assert.ok(Date.now() < notAfter, 'in time');
  });

  await context.test(
    'after the first certificates have expired, the agent presents the new one, and a stream continues',
    async () => {
      await waitFor('their end', () => Date.now() > notAfter + 1_000);
      assert.equal((await shownBy(node.host.address)).serialNumber, (await held('serving')).serialNumber);
      const after = Math.ceil(notAfter / 1000) + 1;
      await waitFor('a line after the expiry', () =>
        readFileSync(log, 'utf8')
          .split('\n')
          .some((line) => Number(line) > after),
      );
      assert.equal(await cluster.readiness('node-0'), 'True');
    },
  );

  await context.test('every connection made after a restart uses the new certificates', async () => {
    await master.end('SIGKILL');
    await master.start(/^minik8s is ready: https:/m);
    const since = new Date();
    await waitFor('a heartbeat', async () => {
      const { spec } = await kubectl.json<V1Lease>('get', 'lease', '-n', 'kube-node-lease', 'node-0');
      return new Date(spec?.renewTime ?? 0) > since;
    });
    assert.match(await kubectl('logs', '--tail=1', 'ticks'), /^\d+\n$/);
    assert.doesNotMatch(node.role.log, /WARN .*certificate|expired/);
  });
});

/** Returns the certificate of the agent's own server. */
function shownBy(host: string): Promise<X509Certificate> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: 10250, rejectUnauthorized: false }, () => {
      const shown = socket.getPeerX509Certificate();
      socket.destroy();
      if (shown) resolve(shown);
      else reject(new Error(`${host} shows no certificate`));
    });
    socket.on('error', reject);
  });
}
