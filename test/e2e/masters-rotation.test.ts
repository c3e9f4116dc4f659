/** The authority of two masters on one etcd is rotated: the other master follows without a restart. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { certificatesOf } from '../../src/os/certificate-bundle.ts';
import { authorityHash } from '../../src/pki/authority-hash.ts';
import { executable } from './harness/cluster.ts';
import { endOf } from './harness/end-of.ts';
import { prepareMasters, ready } from './harness/masters.ts';
import { waitFor } from './harness/wait-for.ts';

test('the authority of two masters on one etcd is rotated', async (context) => {
  const scene = await prepareMasters(context);
  const { host } = scene;
  const [a, b] = scene.masters;
  await Promise.all([a.role.start(ready), b.role.start(ready)]);
  const authorityOf = ({ dataDir }: typeof a) =>
    certificatesOf(readFileSync(join(dataDir, 'pki/ca.crt'), 'utf8')).map((one) =>
      authorityHash(one.toString()),
    );
  const rotate = async (...flags: string[]) => {
    const args = ['certs', 'rotate-ca', ...flags, '--data-dir', a.dataDir];
    const { code, stdout, stderr } = await endOf(host.command(executable, args));
    assert.deepEqual([code, stderr], [0, ''], stdout);
    return stdout;
  };
  const former = authorityOf(a);
  assert.deepEqual(authorityOf(b), former);

  await context.test(
    'the other master trusts both authorities, and its kubeconfig works at both masters',
    async () => {
      assert.match(await rotate(), /^phase +issue: /m);
      await waitFor('both authorities in its kubeconfig', () => {
        const [, data = ''] =
          /certificate-authority-data: (\S+)/.exec(readFileSync(join(b.dataDir, 'admin.conf'), 'utf8')) ?? [];
        return certificatesOf(Buffer.from(data, 'base64').toString()).length === 2;
      });
      await b.kubectl('get', 'namespaces');
      await a.kubectl('get', 'namespaces');
    },
  );

  await context.test(
    'at the end the other master has only the new authority, and starts with it',
    async () => {
      const out = await rotate('--finish');
      const [, next = ''] = /^next +(\S+)$/m.exec(out) ?? [];
      await waitFor('the next authority', () => authorityOf(b)[0] === next);
      await waitFor('its server to have a certificate of that authority', () =>
        b.kubectl('get', 'namespaces').then(
          () => true,
          () => false,
        ),
      );
      await b.role.end('SIGKILL');
      await a.role.end('SIGKILL');
      await Promise.all([b.role.start(ready), a.role.start(ready)]);
      assert.deepEqual([authorityOf(a), authorityOf(b)], [[next], [next]]);
      await Promise.all([a.kubectl('get', 'namespaces'), b.kubectl('get', 'namespaces')]);
    },
  );
});
