/**
 * `ctl config` beside kubectl 1.32: after the same command lines the kubeconfig files have the same bytes,
 * and both print the same.
 */
import assert from 'node:assert/strict';
import { lstat, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Ctl, ctlFor, kubectlFor } from '../../fixtures/ctl.ts';
import { unlessKubectl } from '../../fixtures/kubectls.ts';

/** Command lines behind `config`, run one after the other. `DIR` is the tool's own directory. */
const changes = [
  'set-cluster main --server=https://10.0.0.5:6443 --certificate-authority=DIR/ca.crt',
  'set-cluster main --tls-server-name=kubernetes --proxy-url=http://proxy:1',
  'set-cluster embedded --server=https://10.0.0.6 --certificate-authority=DIR/ca.crt --embed-certs',
  'set-cluster main --server=https://10.0.0.7',
  'set-cluster open --server=https://x --insecure-skip-tls-verify=true',
  'set-cluster embedded --insecure-skip-tls-verify',
  'set-cluster outside --certificate-authority=/nonexistent/ca.crt',
  'set-credentials ann --client-certificate=DIR/ca.crt --client-key=DIR/ca.crt',
  'set-credentials ann --client-key=DIR/ca.crt --embed-certs=true',
  'set-credentials robot --token=secret-<token>',
  'set-credentials robot --username=u --password=p',
  'set-credentials robot --token=other',
  'set-credentials plugin --exec-command=run --exec-arg=a,b --exec-env=A=1 --exec-api-version=v1',
  'set-credentials plugin --exec-env=A- --exec-env=B=2 --exec-interactive-mode=Never --exec-provide-cluster-info',
  'set-credentials plugin --exec-command=other',
  'set-credentials oidc --auth-provider=oidc --auth-provider-arg=a=1 --auth-provider-arg=b=2',
  'set-credentials oidc --auth-provider-arg=b-',
  'set-credentials bare --auth-provider=oidc',
  'set-context home --cluster=main --user=ann --namespace=shop',
  'set-context other --cluster=embedded',
  'set-context third',
  'use-context home',
  'set-context --current --namespace=',
  'set-context home --user=robot',
  'rename-context home house',
  'rename-context other another',
  'set clusters.10.0.0.9.server https://10.0.0.9',
  'set clusters.10.0.0.9.insecure-skip-tls-verify true',
  'set clusters.10.0.0.9.disable-compression t',
  'set clusters.main.certificate-authority-data YWJj',
  'set clusters.main.certificate-authority-data abc --set-raw-bytes=true',
  'set users.robot.act-as jane',
  'set contexts.new.user robot',
  'set preferences.colors true',
  'set current-context another',
  'unset contexts.new.user',
  'unset contexts.third',
  'unset contexts.nosuch',
  'unset clusters.10.0.0.9.insecure-skip-tls-verify',
  'unset users.plugin.exec',
  'unset preferences.colors',
  'unset current-context',
  'use-context house',
  'delete-cluster open',
  'delete-user oidc',
  'delete-context house',
  'unset contexts',
];

/** Command lines behind `config` that read. */
const reads = [
  'view',
  'view --raw',
  'view --raw=false -o json',
  'view -o json --raw',
  'view --minify',
  'view --minify --context=other -o json',
  'view --minify --context=nosuch',
  'view --flatten --minify',
  'view --merge=false',
  'view --merge=true --kubeconfig=DIR/config',
  'view --kubeconfig=DIR/none',
  'view --kubeconfig=DIR/none --merge',
  'view -o jsonpath={.users[?(@.name=="robot")].user.token}',
  'view -o go-template={{.kind}}',
  'view --template={{len~.clusters}}',
  'view -o jsonpath={.nosuch} --allow-missing-template-keys=false',
  'view -o nosuch',
  'view extra',
  'get-users',
  'get-users --kubeconfig=DIR/none',
  'get-contexts',
  'get-contexts home -o name',
  'get-contexts nosuch home',
  'get-contexts --no-headers',
  'current-context',
  'current-context --kubeconfig=DIR/none',
];

/** Command lines behind `config` that are rejected, and that change no file. */
const wrong = [
  'set-cluster',
  'set-cluster a b',
  'set-cluster main --insecure-skip-tls-verify --certificate-authority=DIR/ca.crt',
  'set-cluster main --embed-certs',
  'set-cluster main --embed-certs --certificate-authority=DIR/none',
  'set-credentials ann --token=a --username=b',
  'set-credentials ann --embed-certs',
  'set-credentials ann --exec-command=a --exec-interactive-mode=nosuch',
  'set-credentials ann --auth-provider-arg=a',
  'set-context',
  'set-context a --current',
  'use-context nosuch',
  'rename-context nosuch new',
  'rename-context home other',
  'rename-context home',
  'delete-cluster nosuch',
  'delete-context nosuch',
  'delete-user nosuch',
  'set clusters.main.nosuch x',
  'set clusters.main x',
  'set nosuch x',
  'set clusters.main.server',
  'set clusters.main.insecure-skip-tls-verify x',
  'set clusters.main.certificate-authority-data ***',
  'unset clusters.nosuch.server',
  'unset nosuch',
];

describe('ctl config beside kubectl 1.32', { timeout: 300_000, skip: unlessKubectl('1.32') }, () => {
  let root: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'config-parity-'));
  });
  after(() => rm(root, { recursive: true, force: true }));

  interface Side {
    readonly directory: string;
    run(line: string): ReturnType<Ctl>;
    text(name?: string): Promise<string>;
  }

  /** Returns both tools, each with a directory; the paths have the same length. */
  async function sides(name: string, kubeconfig: string): Promise<readonly [Side, Side]> {
    const side = async (tool: (kubeconfig: string) => Ctl, own: string): Promise<Side> => {
      const directory = join(root, `${name}-${own}`);
      await mkdir(directory);
      await writeFile(join(directory, 'ca.crt'), 'a certificate\n');
      const run = tool(kubeconfig.replaceAll('DIR', directory));
      return {
        directory,
        run: async (line) => {
          const words = line.replaceAll('DIR', directory).split(' ');
          const result = await run(['config', ...words.map((word) => word.replaceAll('~', ' '))]);
          const same = (text: string) => text.replaceAll(directory, 'DIR');
          return { ...result, out: same(result.out), err: same(result.err) };
        },
        text: async (file = 'config') =>
          (await readFile(join(directory, file), 'utf8')).replaceAll(directory, 'DIR'),
      };
    };
    return [await side(ctlFor, 'ours'), await side(kubectlFor, 'them')];
  }

  /** Runs the lines with both tools; after each the files are the same. */
  async function same([ours, theirs]: readonly [Side, Side], lines: readonly string[], files = ['config']) {
    for (const line of lines) {
      const [mine, other] = await Promise.all([ours.run(line), theirs.run(line)]);
      assert.deepEqual([mine.out, mine.status], [other.out, other.status], `${line}: ${mine.err}`);
      for (const file of files)
        assert.equal(
          await ours.text(file).catch(() => ''),
          await theirs.text(file).catch(() => ''),
          `${file} after ${line}`,
        );
    }
  }

  it('writes the same bytes for every change', async () => {
    const both = await sides('changes', 'DIR/config');
    await same(both, changes);
    assert.equal((await stat(join(both[0].directory, 'config'))).mode & 0o777, 0o600);
  });

  it('prints the same for every view and list, and changes nothing for a wrong line', async () => {
    const both = await sides('reads', 'DIR/config');
    await same(both, changes.slice(0, 22));
    await same(both, reads);
    const before = await both[0].text();
    for (const line of wrong) {
      const mine = await both[0].run(line);
      assert.deepEqual([mine.status, mine.out], [1, ''], line);
      assert.match(mine.err, /^error: /);
    }
    assert.equal(await both[0].text(), before);
  });

  it('prints an empty configuration if no file exists', async () => {
    const both = await sides('none', 'DIR/none');
    await same(both, ['view', 'view -o json', 'get-clusters', 'get-users', 'get-contexts', 'view --minify']);
  });

  it('changes the file of a list that has the entry, and adds to the first that exists', async () => {
    const both = await sides('lists', 'DIR/missing:DIR/one:DIR/two:DIR/one');
    const one =
      'clusters: [{name: a, cluster: {server: https://a}}]\ncontexts: [{name: x, context: {cluster: a, user: u}}]\n';
    const two =
      'clusters: [{name: a, cluster: {server: https://second}}, {name: b, cluster: {server: https://b}}]\n' +
      'users: [{name: u, user: {token: t}}]\ncontexts: [{name: why, context: {cluster: b, user: u}}]\ncurrent-context: why\n';
    for (const { directory } of both) {
      await writeFile(join(directory, 'one'), `kind: Config\napiVersion: v1\n${one}`);
      await writeFile(join(directory, 'two'), `kind: Config\napiVersion: v1\n${two}`);
    }
    const lines = [
      ...[
        'view --raw',
        'current-context',
        'get-contexts',
        'use-context why',
        'set-cluster b --server=https://changed',
      ],
      ...['set-credentials u --token=changed', 'set-credentials new --token=x', 'use-context x'],
      ...['set-context why --namespace=z', 'rename-context why how', 'rename-context x ex', 'view --raw'],
      ...['delete-cluster a', 'view --raw', 'delete-cluster a', 'unset current-context', 'current-context'],
      ...['set preferences.colors true', 'delete-user u', 'unset contexts', 'view --raw'],
    ];
    await same(both, lines, ['missing', 'one', 'two']);
  });

  it('creates the last file of a list where none exists', async () => {
    const both = await sides('all-missing', 'DIR/one:DIR/sub/two');
    await same(both, ['set-cluster a --server=https://a', 'view'], ['one', 'sub/two']);
    assert.match(await both[0].text('sub/two'), /server: https:\/\/a/);
  });

  it('keeps unknown fields, a symbolic link, and the target that does not exist yet', async () => {
    const [{ directory, run, text }] = await sides('links', 'DIR/config');
    await mkdir(join(directory, 'real'));
    await symlink('real/kubeconfig', join(directory, 'config'));
    assert.equal((await run('set-cluster a --server=https://a')).err, '');
    assert.ok((await lstat(join(directory, 'config'))).isSymbolicLink());
    const file = join(directory, 'real/kubeconfig');
    await writeFile(file, `extra: {of: somebody}\n${await text()}`);
    assert.equal((await run('set-context c --cluster=a')).out, 'Context "c" created.\n');
    assert.match(await text('real/kubeconfig'), /extra:\n {2}of: somebody\n/);
    assert.match(await text(), /name: c\n/);
  });

  it('refuses a locked file, a broken file and a file of another kind, and changes nothing', async () => {
    const [{ directory, run, text }] = await sides('refused', 'DIR/config');
    await run('set-cluster a --server=https://a');
    const lock = join(directory, 'config.lock');
    await writeFile(lock, '');
    const before = await text();
    assert.match((await run('set-cluster b --server=https://b')).err, /remove DIR\/config\.lock\n/);
    assert.equal(await text(), before);
    // A reader needs no lock, and the lock of another command stays.
    assert.equal((await run('get-clusters')).out, 'NAME\na\n');
    await rm(lock);
    for (const broken of ['clusters: [', 'kind: Pod\n', '- a\n', 'clusters: 7\n']) {
      await writeFile(join(directory, 'config'), broken);
      const { status, err } = await run('set-cluster b --server=https://b');
      assert.equal(status, 1);
      assert.match(err, /DIR\/config/);
      assert.equal(await text(), broken);
    }
    await assert.rejects(stat(lock));
  });
});
