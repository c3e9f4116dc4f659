/** Certificate authorities that the executable trusts: those of the kubeconfig, otherwise the public ones. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { noHome } from '../fixtures/ctl.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../fixtures/https-api-server.ts';
import { executable } from './harness/cluster.ts';

const run = promisify(execFile);

describe('the authorities that ctl trusts', { timeout: 120_000 }, () => {
  let server: HttpsTestServer;
  let withAuthority: string;
  let withoutAuthority: string;
  let authority: string;

  before(async () => {
    server = await startHttpsTestServer();
    withAuthority = await server.kubeconfigFor('admin', ['system:masters']);
    [withoutAuthority, authority] = [join(server.directory, 'none'), join(server.directory, 'ca.pem')];
    const config = JSON.parse(await readFile(withAuthority, 'utf8'));
    delete config.clusters[0].cluster['certificate-authority-data'];
    await writeFile(withoutAuthority, JSON.stringify(config));
    await writeFile(authority, server.authority.certificate);
  });
  after(() => server.stop());

  const ctl = (args: readonly string[], env: Readonly<Record<string, string>>) =>
    run(executable, ['ctl', ...args], { env: { HOME: noHome, ...env } });

  it('are only the authority of the kubeconfig, if it has one', async () => {
    const { stdout } = await ctl(['get', 'namespace', 'default', '-o', 'name'], {
      KUBECONFIG: withAuthority,
    });
    assert.equal(stdout, 'namespace/default\n');
  });

  it('are the public ones and the extra ones of Node, if the kubeconfig has none', async () => {
    const env = { KUBECONFIG: withoutAuthority };
    const args = ['get', 'namespace', 'default', '-o', 'name'];
    await assert.rejects(ctl(args, env), /its certificate is not signed by the given authority/);
    const { stdout } = await ctl(args, { ...env, NODE_EXTRA_CA_CERTS: authority });
    assert.equal(stdout, 'namespace/default\n');
  });

  it('are the public ones for a manifest from a URL, although the kubeconfig has another', async () => {
    const args = ['apply', '-f', `https://127.0.0.1:${server.port}/version`];
    const env = { KUBECONFIG: withAuthority };
    await assert.rejects(ctl(args, env), /unable to read URL .*certificate/);
    // The certificate is accepted; the version of the server is no manifest.
    await assert.rejects(ctl(args, { ...env, NODE_EXTRA_CA_CERTS: authority }), /kind is missing/);
  });
});
