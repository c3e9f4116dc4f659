/** `ctl config`: the verbs over files of a temporary home. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { parseYaml } from '../../../../src/apimachinery/yaml.ts';
import { config } from '../../../../src/cli/commands/config.ts';
import { startVerbWorld, type VerbWorld } from '../../../fixtures/verb-world.ts';

const context = (name: string, cluster: string, namespace?: string) => ({
  name,
  context: { cluster, user: cluster, ...(namespace && { namespace }) },
});
const kubeconfig = (current: string, ...names: readonly string[]) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': current,
    clusters: names.map((name) => ({ name, cluster: { server: `https://${name}:6443` } })),
    users: names.map((name) => ({ name, user: { token: `secret-of-${name}` } })),
    contexts: names.map((name) => context(name, name)),
  });

describe('ctl config', () => {
  let world: VerbWorld;
  let home: string;
  let own: string;
  before(async () => {
    world = await startVerbWorld();
  });
  after(() => world.stop());
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'minik8s-config-'));
    own = join(home, '.kube/config');
    mkdirSync(join(home, '.kube'));
    writeFileSync(own, kubeconfig('main', 'main', 'other'), { mode: 0o600 });
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  const run = (verb: string, argv: readonly string[] = [], env: Readonly<Record<string, string>> = {}) =>
    world.run(config.verbs[verb] ?? assert.fail(), argv, {
      io: { homeDirectory: home, env },
      usesMachine: true,
    });
  // biome-ignore lint/suspicious/noExplicitAny: the fields of a file that the test has written.
  const read = (path = own) => parseYaml(readFileSync(path, 'utf8')).value as any;
  const names = (list: readonly { name: string }[]) => list.map(({ name }) => name);

  it('lists contexts with a mark at the current one, and reports names that do not exist', async () => {
    const { out } = await run('get-contexts');
    assert.deepEqual(
      out.split('\n').map((line) => line.trim().split(/\s+/)),
      [
        ['CURRENT', 'NAME', 'CLUSTER', 'AUTHINFO', 'NAMESPACE'],
        ['*', 'main', 'main', 'main'],
        ['other', 'other', 'other'],
        [''],
      ],
    );
    const some = await run('get-contexts', ['other', 'none', '-o', 'name']);
    assert.deepEqual([some.status, some.out, some.err], [1, 'other\n', 'error: context none not found\n']);
    assert.equal((await run('get-clusters')).out, 'NAME\nmain\nother\n');
    assert.equal((await run('get-users')).out, 'NAME\nmain\nother\n');
  });

  it('shows no secret, unless it is requested', async () => {
    const shown = await run('view');
    assert.doesNotMatch(shown.out, /secret-of/);
    assert.match(shown.out, /token: REDACTED/);
    assert.match((await run('view', ['--raw'])).out, /secret-of-other/);
    const minified = await run('view', ['--raw', '--minify']);
    assert.match(minified.out, /secret-of-main/);
    assert.doesNotMatch(minified.out, /other/);
  });

  it('puts the contents of files into a flattened file, from the folder of the kubeconfig', async () => {
    writeFileSync(join(home, '.kube/ca.crt'), 'the authority');
    await run('set-cluster', ['main', `--certificate-authority=${join(home, '.kube/ca.crt')}`]);
    assert.equal(read().clusters[0].cluster['certificate-authority'], 'ca.crt', 'relative to the file');
    const { out } = await run('view', ['--flatten', '-o', 'json']);
    const [{ cluster }] = JSON.parse(out).clusters;
    assert.equal(Buffer.from(cluster['certificate-authority-data'], 'base64').toString(), 'the authority');
    assert.equal(cluster['certificate-authority'], undefined);
  });

  it('uses only a context that exists, and keeps the file private', async () => {
    chmodSync(own, 0o644);
    const { out } = await run('use-context', ['other']);
    assert.equal(out, 'Switched to context "other".\n');
    assert.equal((await run('current-context')).out, 'other\n');
    assert.equal(statSync(own).mode & 0o777, 0o600);
    const missing = await run('use-context', ['none']);
    assert.equal(missing.status, 1);
    assert.match(missing.err, /no context exists with the name: "none"/);
    assert.equal((await run('current-context')).out, 'other\n');
    assert.deepEqual(readdirSync(join(home, '.kube')), ['config'], 'no lock is left');
  });

  it('changes only the given fields of a context, and says whether it is new', async () => {
    assert.equal(
      (await run('set-context', ['--current', '--namespace=shop'])).out,
      'Context "main" modified.\n',
    );
    assert.equal((await run('set-context', ['shop', '--cluster=other'])).out, 'Context "shop" created.\n');
    assert.deepEqual(read().contexts, [
      context('main', 'main', 'shop'),
      context('other', 'other'),
      { name: 'shop', context: { cluster: 'other', user: '' } },
    ]);
    const both = await run('set-context', ['main', '--current']);
    assert.match(both.err, /you cannot specify both a context name and --current/);
  });

  it('renames a context with the current one, and never onto another one', async () => {
    const { out } = await run('rename-context', ['main', 'home']);
    assert.equal(out, 'Context "main" renamed to "home".\n');
    assert.deepEqual([read()['current-context'], names(read().contexts).sort()], ['home', ['home', 'other']]);
    const taken = await run('rename-context', ['home', 'other']);
    assert.equal(taken.status, 1);
    assert.match(taken.err, /the context "other" already exists/);
    await run('rename-context', ['other', 'second']);
    assert.deepEqual(
      [read()['current-context'], names(read().contexts).sort()],
      ['home', ['home', 'second']],
    );
  });

  it('deletes the named entry alone, and warns about a deletion of the current context', async () => {
    const { out, err } = await run('delete-context', ['main']);
    assert.match(err, /^warning: this removed your active context/);
    assert.equal(out, `deleted context main from ${own}\n`);
    assert.deepEqual([names(read().contexts), names(read().clusters)], [['other'], ['main', 'other']]);
    assert.equal((await run('delete-cluster', ['main'])).err, '');
    await run('delete-user', ['other']);
    assert.deepEqual([names(read().clusters), names(read().users)], [['other'], ['main']]);
    const missing = await run('delete-user', ['other']);
    assert.deepEqual([missing.status, missing.err], [1, `error: cannot delete user other, not in ${own}\n`]);
  });

  it('sets credentials and single fields, and removes a field', async () => {
    await run('set-credentials', ['robot', '--token=t']);
    assert.deepEqual(read().users.at(-1), { name: 'robot', user: { token: 't' } });
    const { out } = await run('set', ['contexts.main.namespace', 'shop']);
    assert.equal(out, 'Property "contexts.main.namespace" set.\n');
    assert.equal(read().contexts[0].context.namespace, 'shop');
    await run('unset', ['contexts.main.namespace']);
    assert.equal(read().contexts[0].context.namespace, undefined);
    const wrong = await run('set', ['contexts.main.namespace']);
    assert.match(wrong.err, /give a PROPERTY and its VALUE/);
  });

  it('changes an entry in the file of $KUBECONFIG that has it, and adds one to the first', async () => {
    const [first, second] = [join(home, 'first'), join(home, 'second')];
    writeFileSync(first, kubeconfig('a', 'a'));
    writeFileSync(second, kubeconfig('b', 'b'));
    const env = { KUBECONFIG: `${first}:${second}` };
    await run('set-context', ['b', '--namespace=shop'], env);
    await run('set-cluster', ['new', '--server=https://new'], env);
    assert.deepEqual(read(second).contexts, [context('b', 'b', 'shop')]);
    assert.deepEqual([names(read(first).contexts), names(read(first).clusters)], [['a'], ['a', 'new']]);
    assert.equal((await run('current-context', [], env)).out, 'a\n');
    assert.equal(read()['current-context'], 'main', 'the file in the home is not read');
  });

  it('waits for no lock, and changes no file that is locked', async () => {
    writeFileSync(`${own}.lock`, '');
    const { status, err } = await run('use-context', ['other']);
    assert.equal(status, 1);
    assert.match(err, /another command is changing the kubeconfig .*; if none is running, remove .*\.lock/);
    assert.ok(existsSync(`${own}.lock`), 'the lock of the other command is kept');
    assert.equal(read()['current-context'], 'main');
  });
});
