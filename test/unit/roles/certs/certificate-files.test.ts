import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { formatKubeconfig } from '../../../../src/client/kubeconfig.ts';
import { singleKubeconfig } from '../../../../src/client/kubeconfig-connection.ts';
import { NodeFiles } from '../../../../src/node-bootstrap/node-files.ts';
import { openCredentials } from '../../../../src/pki/credentials.ts';
import { createAuthority, issueCertificate } from '../../../../src/pki/x509.ts';
import { findCertificates } from '../../../../src/roles/certs/certificate-files.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const validity = { notBefore: start, notAfter: start + 1000 };

let directory: string;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'minik8s-certs-'));
});
after(() => rm(directory, { recursive: true }));

const find = () =>
  findCertificates({ dataDir: join(directory, 'data'), configDirectory: join(directory, 'etc') });

const server = 'https://192.0.2.1:6443';

test('a machine without files has no certificates', async () => {
  assert.deepEqual(await find(), []);
});

test('the authority, leaves, node files and kubeconfigs are found, including foreign and damaged ones', async () => {
  const dataDir = join(directory, 'data');
  const credentials = await openCredentials(join(dataDir, 'pki'), () => start);
  const ca = credentials.authority.certificate;
  const proxy = await openCredentials(join(dataDir, 'pki/front-proxy'), () => start);
  await proxy.leaf({ file: 'front-proxy-client', commonName: 'front-proxy-client', usages: ['client'] });
  const hosts = ['localhost', '127.0.0.1'];
  const leaf = await credentials.leaf({ file: 'apiserver', commonName: 'api', hosts, usages: ['server'] });
  const user = await issueCertificate(credentials.authority, {
    commonName: 'anna',
    usages: ['client'],
    ...validity,
  });
  const node = new NodeFiles(join(dataDir, 'node'));
  await node.prepare();
  await node.writeAuthority(ca);
  await node.writePair('client', user);
  await mkdir(join(directory, 'etc'));
  const stranger = await createAuthority('other', start, start + 1000);
  const foreign = await issueCertificate(stranger, { commonName: 'eve', usages: ['client'], ...validity });
  const write = (path: string, cert: string, key: string) =>
    writeFile(join(directory, path), formatKubeconfig(singleKubeconfig('x', { server, ca, cert, key })));
  await write('data/admin.conf', user.certificate, user.key);
  await write('etc/eve.kubeconfig', foreign.certificate, user.key);
  await writeFile(join(directory, 'etc/broken.conf'), 'clusters: 5');
  await writeFile(join(directory, 'etc/master.yaml'), 'port: 6443');
  await writeFile(join(dataDir, 'pki/lost.crt'), leaf.certificate);
  await writeFile(join(dataDir, 'node/serving.pem'), 'nonsense');

  const found = (await find()).map(({ path, entry, holder, content }) => [
    path.slice(directory.length + 1),
    entry,
    holder,
    content && `${content.subject.join()} ${content.isOfCluster} ${content.fitsKey}`,
  ]);
  assert.deepEqual(found, [
    ['data/pki/ca.crt', undefined, 'authority', 'CN=minik8s true true'],
    ['data/pki/apiserver.crt', undefined, 'master', 'CN=api true true'],
    ['data/pki/lost.crt', undefined, 'master', 'CN=api true false'],
    ['data/pki/front-proxy/ca.crt', undefined, 'front-proxy', 'CN=minik8s true true'],
    ['data/pki/front-proxy/front-proxy-client.crt', undefined, 'master', 'CN=front-proxy-client true true'],
    ['data/node/ca.crt', undefined, 'node-trust', 'CN=minik8s true undefined'],
    ['data/node/client.pem', undefined, 'node', 'CN=anna true true'],
    ['data/node/serving.pem', undefined, 'node', undefined],
    ['data/admin.conf', 'cluster x', 'master', 'CN=minik8s true undefined'],
    ['data/admin.conf', 'user x', 'master', 'CN=anna true true'],
    ['etc/broken.conf', undefined, 'user', undefined],
    ['etc/eve.kubeconfig', 'cluster x', 'user', 'CN=minik8s true undefined'],
    ['etc/eve.kubeconfig', 'user x', 'user', 'CN=eve false false'],
  ]);
  const api = (await find()).find(({ path }) => path.endsWith('apiserver.crt'))?.content;
  assert.deepEqual(api?.names, hosts);
  assert.equal(api?.notBefore, start - 3_600_000);
});

test('a file that cannot be read is an error with its path', async () => {
  await rm(join(directory, 'data/admin.conf'));
  await mkdir(join(directory, 'data/admin.conf'));
  await assert.rejects(find(), /^Error: cannot read \S+\/data\/admin\.conf: /);
});
