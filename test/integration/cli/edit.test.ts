/**
 * `ctl edit` beside kubectl 1.32: the editor receives the same files, and the server receives the same
 * changes.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startBesideKubectl } from '../../fixtures/beside-kubectl.ts';
import type { Ctl } from '../../fixtures/ctl.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import type { HttpsTestServer } from '../../fixtures/https-api-server.ts';
import { unlessKubectl } from '../../fixtures/kubectls.ts';

const web = {
  metadata: { name: 'web', labels: { app: 'web' } },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        containers: [
          { name: 'a', image: 'a:1' },
          { name: 'b', image: 'b:1' },
        ],
      },
    },
  },
};

interface Scenario {
  readonly what: string;
  readonly objects: string;
  /**
   * sed scripts for the first, the second, … call of the editor; the last script is also used for later
   * calls.
   */
  readonly scripts: readonly string[];
  readonly flags?: readonly string[];
}

const scenarios: Scenario[] = [
  { what: 'a value', objects: 'cm/one', scripts: ['s/v: first/v: second/'] },
  { what: 'as JSON', objects: 'cm/one', scripts: ['s/"first"/"third"/'], flags: ['-o', 'json'] },
  { what: 'nothing', objects: 'cm/one', scripts: [''] },
  { what: 'only comments', objects: 'cm/one', scripts: ['1i # a note'] },
  { what: 'one of two objects', objects: 'cm/one cm/two', scripts: ['0,/v: first/s//v: second/'] },
  {
    what: 'a removed container',
    objects: 'deploy/web',
    scripts: ['/image: b:1/,/terminationMessagePolicy/d'],
  },
  {
    what: 'what is invalid, then what is right',
    objects: 'deploy/web',
    scripts: ['s/replicas: 1/replicas: -1/', 's/replicas: -1/replicas: 3/'],
  },
];

describe('ctl edit', { timeout: 300_000, skip: unlessKubectl('1.32') }, () => {
  let server: HttpsTestServer;
  let tools: Readonly<Record<'ours' | 'theirs', Ctl>>;

  before(async () => {
    const world = await startBesideKubectl({ clock: new FakeClock() });
    ({ server } = world);
    tools = { ours: world.ctl, theirs: world.kubectl };
  });
  after(() => server.stop());

  /** Returns an editor that keeps the files that it receives and edits them with sed. */
  async function editorOf(name: string, scripts: readonly string[]) {
    const [editor, seen] = [join(server.directory, `${name}.sh`), join(server.directory, `${name}.seen`)];
    const cases = scripts.map((script, index) => `${index}) sed -i '${script}' "$1";;\n`).join('');
    const last = scripts.at(-1) ?? '';
    const count = `$(cat ${seen}.count 2>/dev/null || echo 0)`;
    await writeFile(
      editor,
      `#!/bin/sh\nPATH=/usr/bin:/bin\nn=${count}\necho $((n + 1)) > ${seen}.count\n` +
        `cat "$1" >> ${seen}\ncase $n in\n${cases}*) sed -i '${last}' "$1";;\nesac\n`,
      { mode: 0o755 },
    );
    return { env: { KUBE_EDITOR: editor, TMPDIR: server.directory }, seen: () => readFileSync(seen, 'utf8') };
  }

  async function makeSpace(space: string): Promise<void> {
    const core = `/api/v1/namespaces/${space}`;
    await server.call('POST', '/api/v1/namespaces', { metadata: { name: space } });
    for (const name of ['one', 'two'])
      await server.call('POST', `${core}/configmaps`, { metadata: { name }, data: { v: 'first' } });
    await server.call('POST', `/apis/apps/v1/namespaces/${space}/deployments`, web);
  }

  const run = async (side: 'ours' | 'theirs', { objects, scripts, flags = [] }: Scenario, index: number) => {
    const space = `${side}-${index}`;
    await makeSpace(space);
    const { env, seen } = await editorOf(space, scripts);
    const args = ['edit', ...objects.split(' '), '-n', space, ...flags];
    const { status, out, err } = await tools[side](args, { env });
    const state = await Promise.all(
      ['configmaps', 'deployments'].map(async (kind) => {
        const group = kind === 'configmaps' ? '/api/v1' : '/apis/apps/v1';
        const { items } = (await server.call('GET', `${group}/namespaces/${space}/${kind}`)).json<{
          items: { data?: object; spec?: object }[];
        }>();
        return items.map(({ data, spec }) => ({ data, spec }));
      }),
    );
    const plain = (text: string) =>
      text.replaceAll(space, 'SPACE').replaceAll(/(uid"?: "?|resourceVersion"?: "?)[-\w]+/g, '$1X');
    return { status, out: plain(out), err, state, seen: plain(seen()) };
  };

  scenarios.forEach((scenario, index) => {
    it(scenario.what, async () => {
      const ours = await run('ours', scenario, index);
      assert.deepEqual(ours, await run('theirs', scenario, index));
    });
  });

  it('deletes its file after a successful edit', async () => {
    assert.deepEqual(
      (await readdir(server.directory)).filter((name) => name.startsWith('ctl-edit-')),
      [],
    );
  });

  it('keeps the edited file if the server rejects it', async () => {
    await makeSpace('kept');
    for (const [script, message] of [
      ['s/name: one/name: other/', /^error: At least one of apiVersion, kind, name and uid was changed\n/],
      ['s/v: first/v: [/', /^error: Edit cancelled, no valid changes were saved\.\n/],
    ] as const) {
      const { env } = await editorOf(`kept-${script.length}`, [script, '']);
      const { status, err } = await tools.ours(['edit', 'cm/one', '-n', 'kept'], { env });
      assert.equal(status, 1);
      assert.match(err, message);
      const [, path = ''] = /A copy of your changes has been stored to "(.*)"\n$/.exec(err) ?? [];
      assert.ok(existsSync(path), err);
    }
  });

  it('an empty file changes nothing', async () => {
    const { env } = await editorOf('empty', ['d']);
    assert.deepEqual(await tools.ours(['edit', 'ns', 'default'], { env }), {
      status: 0,
      out: '',
      err: 'Edit cancelled, saved file was empty.\n',
    });
  });

  it('reports an editor that does not exist', async () => {
    const env = { EDITOR: '/nonexistent/editor --wait' };
    const { status, err } = await tools.ours(['edit', 'ns', 'default'], { env });
    assert.equal(status, 1);
    assert.match(
      err,
      /^error: there was a problem with the editor "\/nonexistent\/editor --wait": it ended with 127\n$/,
    );
  });
});
