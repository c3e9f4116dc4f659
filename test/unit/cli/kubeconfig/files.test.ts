/** The files that `ctl config` reads and changes. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { parseYaml } from '../../../../src/apimachinery/yaml.ts';
import { formatYaml } from '../../../../src/apimachinery/yaml-output/format-yaml.ts';
import { ctlFor } from '../../../fixtures/ctl.ts';

const admin = formatYaml({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'minik8s', cluster: { server: 'https://127.0.0.1:6443' } }],
  users: [{ name: 'minik8s', user: { token: 'secret' } }],
  contexts: [{ name: 'minik8s', context: { cluster: 'minik8s', user: 'minik8s' } }],
  'current-context': 'minik8s',
});

describe('ctl config on a master without a kubeconfig of the user', () => {
  let homeDirectory: string;
  let data: string;
  const own = () => join(homeDirectory, '.kube/config');
  const config = (...words: string[]) =>
    ctlFor(undefined, { homeDirectory })(['config', ...words], { env: { MINIK8S_DATA_DIR: data } });

  beforeEach(() => {
    homeDirectory = mkdtempSync(join(tmpdir(), 'minik8s-home-'));
    data = join(homeDirectory, 'data');
    mkdirSync(data);
    writeFileSync(join(data, 'admin.conf'), admin);
  });
  afterEach(() => rmSync(homeDirectory, { recursive: true }));

  it('shows the kubeconfig of the master, and writes nothing', async () => {
    assert.equal((await config('current-context')).out, 'minik8s\n');
    assert.match((await config('view')).out, /server: https:\/\/127\.0\.0\.1:6443/);
    assert.throws(() => statSync(own()), /ENOENT/);
  });

  it('changes a copy in the home directory, which it names, and leaves the file of the master', async () => {
    const { status, out, err } = await config('set-context', '--current', '--namespace=shop');
    assert.deepEqual([status, out], [0, 'Context "minik8s" modified.\n']);
    assert.equal(
      err,
      `Note: ${join(data, 'admin.conf')} belongs to the master: it was copied to ${own()}, which is used from now on\n`,
    );
    assert.equal(readFileSync(join(data, 'admin.conf'), 'utf8'), admin);
    assert.equal(statSync(own()).mode & 0o777, 0o600);
    const { value } = parseYaml(readFileSync(own(), 'utf8')) as { readonly value: Record<string, unknown> };
    assert.deepEqual(value.contexts, [
      { name: 'minik8s', context: { cluster: 'minik8s', user: 'minik8s', namespace: 'shop' } },
    ]);
    assert.deepEqual(value.users, [{ name: 'minik8s', user: { token: 'secret' } }]);
    const again = await config('set-context', '--current', '--namespace=other');
    assert.deepEqual(again, { status: 0, out: out, err: '' });
  });

  it('keeps the entries of a kubeconfig without contexts', async () => {
    mkdirSync(join(homeDirectory, '.kube'));
    writeFileSync(own(), formatYaml({ kind: 'Config', users: [{ name: 'ann', user: { token: 'a' } }] }));
    assert.equal((await config('set-context', 'more', '--cluster=minik8s', '--user=ann')).status, 0);
    assert.equal((await config('get-users')).out, 'NAME\nann\nminik8s\n');
  });

  it('changes the file of the master where --kubeconfig names it', async () => {
    const file = join(data, 'admin.conf');
    await config('set-context', '--current', '--namespace=shop', `--kubeconfig=${file}`);
    assert.match(readFileSync(file, 'utf8'), /namespace: shop/);
  });
});
