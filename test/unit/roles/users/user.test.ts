/** `minik8s user`: what is written, and what is left after a failure. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { parseYaml } from '../../../../src/apimachinery/yaml.ts';
import type { ApiRequest } from '../../../../src/client/transport.ts';
import { newAuthority } from '../../../../src/pki/credentials.ts';
import { userVerbs } from '../../../../src/roles/user.ts';
import { startVerbWorld, type VerbWorld } from '../../../fixtures/verb-world.ts';

const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const merge = 'application/merge-patch+json';

describe('minik8s user', () => {
  let world: VerbWorld;
  let directory: string;
  let certificate: string;
  before(async () => {
    world = await startVerbWorld();
    ({ certificate } = await newAuthority(Date.UTC(2026, 0, 1)));
    await world.send('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } });
  });
  after(() => world.stop());
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'minik8s-user-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  /** Signs each approved request: `certificate` is one of another subject, which the verb does not read. */
  const signing = async ({ method, path }: ApiRequest) => {
    if (method !== 'GET' || !path.startsWith(`${requests}?watch=`)) return;
    const { items } = (await world.send('GET', requests)) as {
      items: { metadata: { name: string }; status: { certificate?: string } }[];
    };
    for (const { metadata, status } of items)
      if (!status.certificate)
        await world.send(
          'PATCH',
          `${requests}/${metadata.name}/status`,
          { status: { certificate: Buffer.from(certificate).toString('base64') } },
          merge,
        );
  };

  const run = async (
    verb: keyof typeof userVerbs,
    argv: readonly string[],
    before: (request: ApiRequest) => Promise<void> = signing,
  ) => {
    const kubeconfig = join(directory, 'admin.conf');
    const cluster = {
      server: 'https://10.0.0.5:6443',
      'certificate-authority-data': Buffer.from(certificate).toString('base64'),
    };
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        'current-context': 'c',
        clusters: [{ name: 'c', cluster }],
        users: [{ name: 'c', user: { token: 't' } }],
        contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
      }),
    );
    const result = await world.run(userVerbs[verb], argv, {
      before,
      io: { env: { KUBECONFIG: kubeconfig } },
      // The key is made in another thread.
      usesMachine: true,
    });
    rmSync(kubeconfig);
    const written = result.requests.filter((line) => !line.startsWith('GET '));
    return { ...result, written, files: readdirSync(directory) };
  };
  const file = (name = 'ann.kubeconfig') => join(directory, name);

  it('writes a kubeconfig for its owner alone, with the namespace, and grants the role there', async () => {
    const argv = ['ann', '--role=view', '-n', 'shop', `--file=${file()}`, '--ttl=24h'];
    const { status, out, err } = await run('create', argv);
    assert.deepEqual([status, err], [0, '']);
    assert.match(
      out,
      /^rolebinding\.rbac\.authorization\.k8s\.io\/user:ann:view created\nuser ann can authenticate until /,
    );
    assert.equal(statSync(file()).mode & 0o777, 0o600);
    // biome-ignore lint/suspicious/noExplicitAny: the fields of a kubeconfig.
    const config = parseYaml(readFileSync(file(), 'utf8')).value as any;
    assert.equal(config.clusters[0].cluster.server, 'https://10.0.0.5:6443');
    assert.equal(config.contexts[0].context.namespace, 'shop');
    assert.match(Buffer.from(config.users[0].user['client-key-data'], 'base64').toString(), /PRIVATE KEY/);
    const { items } = (await world.send('GET', requests)) as {
      items: { spec: { expirationSeconds: number } }[];
    };
    assert.equal(items.at(-1)?.spec.expirationSeconds, 86_400);
  });

  it('warns of a user without a role', async () => {
    const { status, err } = await run('create', ['ben', `--file=${file()}`]);
    assert.equal(status, 0);
    assert.equal(err, 'Warning: user ben has no role: grant one with minik8s user grant ben --role ROLE\n');
  });

  it('leaves no file if the role does not exist, the request is not signed, or the server refuses', async () => {
    const missing = await run('create', ['eve', '--role=none', `--file=${file()}`]);
    assert.match(missing.err, /there is no ClusterRole "none"/);
    const unsigned = await run('create', ['eve', `--file=${file()}`], async ({ path }) => {
      if (path.includes('watch=')) setImmediate(() => void world.server.clock.advance(61_000));
    });
    assert.match(unsigned.err, /is approved and was not signed within 60 s: is a controller running\?/);
    const refused = await run('create', ['eve', `--file=${file()}`], async ({ method }) => {
      if (method === 'POST') throw new Error('connection lost');
    });
    assert.match(refused.err, /connection lost/);
    for (const { status, files } of [missing, unsigned, refused]) assert.deepEqual([status, files], [1, []]);
  });

  it('does not overwrite a file, and requests nothing if it cannot write one', async () => {
    writeFileSync(file(), 'precious');
    const existing = await run('create', ['ann', `--file=${file()}`]);
    assert.match(existing.err, /already exists and is not overwritten; choose another file with --file/);
    assert.equal(readFileSync(file(), 'utf8'), 'precious');
    const nowhere = await run('create', ['ann', `--file=${file('none/x')}`]);
    assert.match(nowhere.err, /cannot write .*none\/x/);
    assert.deepEqual([existing.written, nowhere.written], [[], []]);
  });

  it('refuses names that Kubernetes reserves, names that lead elsewhere, and short lifetimes', async () => {
    for (const [argv, message] of [
      [['system:admin'], /system:admin: names that begin with system: are reserved by Kubernetes/],
      [['ann', '--group=system:masters'], /system:masters: names that begin with system:/],
      [['ann', '--group='], /--group: expected the name of a group/],
      [['../ann'], /is not a valid name/],
      [['..'], /is not a valid name/],
      [['ann', 'ben'], /give one name/],
      [[], /give one name/],
      [['ann', '--ttl=9m59s'], /--ttl: expected at least 10m/],
    ] as const) {
      const { status, err, written, files } = await run('create', [...argv, `--file=${file()}`]);
      assert.match(err, message);
      assert.deepEqual([status, written, files], [1, [], []]);
    }
  });

  it('lists roles by user, and removes all roles of the named users alone', async () => {
    await run('grant', ['carl', '--role=edit']);
    await run('grant', ['carl', '--role=view', '-n', 'shop']);
    await run('grant', ['dora', '--role=view']);
    const listed = (await run('list', [])).out;
    const rows = listed.split('\n').map((line) => line.split(/ {2,}/));
    assert.deepEqual(
      rows.filter(([user]) => user === 'carl' || user === 'dora'),
      [
        ['carl', 'ClusterRole/edit', '<all>'],
        ['carl', 'ClusterRole/view', 'shop'],
        ['dora', 'ClusterRole/view', '<all>'],
      ],
    );
    const { status, out, err } = await run('delete', ['none', 'carl']);
    assert.equal(status, 1, 'one of the names has no role');
    assert.match(err, /user none has no role bindings/);
    assert.match(out, /clusterrolebinding\..*\/user:carl:edit deleted\n/);
    assert.match(out, /\nrolebinding\..*\/user:carl:view deleted\n/);
    const left = (await run('list', [])).out;
    assert.match(left, /^dora /m);
    assert.doesNotMatch(left, /carl/);
    const unnamed = await run('grant', ['dora']);
    assert.match(unnamed.err, /--role is required/);
    const { items } = (await world.send('GET', `${rbac}/clusterrolebindings`)) as { items: unknown[] };
    assert.ok(items.length > 1, 'bindings of the system are kept');
  });
});
