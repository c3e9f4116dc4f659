/**
 * A master and a node that were off until all their certificates had expired return by themselves,
 * without a token. `minik8s certs check` of docs/certificates.md reports both states.
 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import { certificateAnnotation } from '../../src/api/core/v1/node/annotations.ts';
import { NodeFiles } from '../../src/node-bootstrap/node-files.ts';
import { type CertificateRequest, issueCertificate } from '../../src/pki/x509.ts';
import { executable } from './harness/cluster.ts';
import { endOf } from './harness/end-of.ts';
import { MultiCluster } from './harness/multi-cluster.ts';
import { waitFor } from './harness/wait-for.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/certificates.md'), 'utf8');
const hour = 3_600_000;
const validity = { notBefore: Date.now() - 366 * 24 * hour, notAfter: Date.now() - hour };

test('machines that were off when their certificates expired rejoin', async (context) => {
  const cluster = await MultiCluster.start(context, { hosts: 1 });
  const { kubectl, master, masterDataDir } = cluster;
  const node = cluster.node('node-0');
  const check = (dataDir: string, ...more: string[]) => {
    assert.ok(page.includes('\n    minik8s certs check\n'));
    return endOf(node.host.command(executable, ['certs', 'check', '--data-dir', dataDir, ...more]));
  };
  await kubectl(
    'run',
    'hello',
    '--image=minik8s/hello:1',
    '--image-pull-policy=Never',
    '--',
    'sleep',
    '9999',
  );
  await kubectl('wait', '--for=condition=Ready', 'pod/hello', '--timeout=60s');
  const stateOf = async () => {
    const { status } = await kubectl.json<V1Pod>('get', 'pod', 'hello');
    const [container] = status?.containerStatuses ?? [];
    return [container?.containerID, container?.restartCount];
  };
  const before = await stateOf();

  await context.test('certs check reports valid certificates while minik8s runs', async () => {
    for (const [dataDir, ...files] of [
      [masterDataDir, 'pki/ca.crt', 'pki/apiserver.crt', 'admin.conf (user minik8s)'],
      [node.dataDir, 'node/ca.crt', 'node/client.pem', 'node/serving.pem'],
    ] as const) {
      const { code, stdout, stderr } = await check(dataDir);
      assert.deepEqual([code, stderr], [0, ''], stdout);
      for (const file of files) assert.ok(stdout.includes(`    ${join(dataDir, file)}\n`), stdout);
    }
    const soon = await check(node.dataDir, '--within', '400', '--json');
    assert.equal(soon.code, 1);
    const { bad, certificates } = JSON.parse(soon.stdout);
    assert.deepEqual([bad, certificates.length], [2, 3]);
    assert.match(soon.stderr, /^error: 2 of 3 certificates of \S+ need attention$/m);
  });

  await node.role.end('SIGTERM');
  const pki = join(masterDataDir, 'pki');
  const authority = {
    key: readFileSync(join(pki, 'ca.key'), 'utf8'),
    certificate: readFileSync(join(pki, 'ca.crt'), 'utf8'),
  };
  const expired = (request: Pick<CertificateRequest, 'commonName' | 'organizations' | 'hosts' | 'usages'>) =>
    issueCertificate(authority, { ...request, ...validity });
  const subject = { commonName: 'system:node:node-0', organizations: ['system:nodes'] };
  const client = await expired({ ...subject, usages: ['client'] });
  const files = new NodeFiles(join(node.dataDir, 'node'));
  await files.writePair('client', client);
  const hosts = ['node-0', node.host.address];
  await files.writePair('serving', await expired({ ...subject, hosts, usages: ['server'] }));
  const { fingerprint256 } = new X509Certificate(client.certificate);
  await kubectl('annotate', '--overwrite', 'node', 'node-0', `${certificateAnnotation}=${fingerprint256}`);
  const config = join(node.host.directory, 'node-0.yaml');
  writeFileSync(config, readFileSync(config, 'utf8').replaceAll(/^(token|ca-cert-hash): .*\n/gm, ''));

  await context.test('a master renews its expired certificates at its start', async () => {
    await master.end('SIGTERM');
    const leaves = ['apiserver', 'apiserver-kubelet-client', 'admin'];
    for (const file of leaves) {
      const pair = await expired({ commonName: file, hosts: ['localhost'], usages: ['server'] });
      writeFileSync(join(pki, `${file}.key`), pair.key);
      writeFileSync(join(pki, `${file}.crt`), pair.certificate);
    }
    const down = await check(masterDataDir);
    assert.equal(down.code, 1);
    assert.match(down.stdout, /pki\/apiserver\.crt: it has expired; to mend it: systemctl restart minik8s/);
    await master.start(/^minik8s is ready: https:/m);
    assert.equal((await check(masterDataDir)).code, 0);
    await kubectl('get', 'nodes');
  });

  await context.test(
    'a node with an expired certificate gets a new one without a token, and its pod continues to run',
    async () => {
      const { code, stdout } = await check(node.dataDir);
      assert.equal(code, 1);
      assert.match(stdout, /node\/client\.pem: it has expired; to mend it: /);
      await waitFor('the node to be lost', async () => (await cluster.readiness('node-0')) === 'Unknown', {
        timeoutMs: 180_000,
      });
      await node.role.start(/^minik8s is ready: node node-0/m);
      await cluster.untilReady(node);
      assert.match(node.role.log, /the certificate of this node had expired and was renewed/);
      assert.equal((await check(node.dataDir)).code, 0);
      assert.deepEqual(await stateOf(), before);
      const own = new X509Certificate((await files.pair('client'))?.certificate ?? '').fingerprint256;
      await waitFor('its Node to have its new certificate', async () =>
        (await kubectl('get', 'node', 'node-0', '-o', 'jsonpath={.metadata.annotations}')).includes(own),
      );
    },
  );
});
