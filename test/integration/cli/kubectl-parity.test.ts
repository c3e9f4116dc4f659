/** The same arguments to `ctl` and to kubectl 1.32, on one server: the same output, and the same objects. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import { formatYaml } from '../../../src/apimachinery/yaml-output/format-yaml.ts';
import { startBesideKubectl } from '../../fixtures/beside-kubectl.ts';
import type { Ctl } from '../../fixtures/ctl.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import type { HttpsTestServer } from '../../fixtures/https-api-server.ts';
import { unlessKubectl } from '../../fixtures/kubectls.ts';
import { yamlTexts } from '../../fixtures/yaml-texts.ts';
import { outputs } from './output-parity-cases.ts';
import { configMap, deployment, reads, sequences, service } from './parity-cases.ts';

describe('ctl beside kubectl 1.32', { timeout: 300_000, skip: unlessKubectl('1.32') }, () => {
  let server: HttpsTestServer;
  let ctl: Ctl;
  let kubectl: Ctl;

  before(async () => {
    const clock = new FakeClock();
    ({ server, ctl, kubectl } = await startBesideKubectl({ clock }));
  });
  after(() => server.stop());

  const both = async (args: readonly string[]) => {
    const [ours, theirs] = await Promise.all([ctl(args), kubectl(args)]);
    return { ours, theirs };
  };

  const applyAs = async (tool: Ctl, namespace: string, manifest: JsonObject) => {
    const { status, out, err } = await tool(['apply', '-n', namespace, '-f', '-'], {
      stdin: JSON.stringify(manifest),
    });
    assert.equal(status, 0, err);
    return out;
  };

  /** Returns the state in which both tools must agree. */
  const state = async (namespace: string, resource: string) => {
    const { out } = await ctl(['get', resource, '-n', namespace, '-o', 'json']);
    const text = out.replaceAll(`\\"namespace\\":\\"${namespace}\\"`, '');
    const { metadata, ...rest } = JSON.parse(text) as { metadata: JsonObject };
    const { labels, annotations, finalizers } = metadata;
    return { ...rest, labels, annotations, finalizers };
  };

  sequences.forEach(({ what, resource, manifests, meanwhile }, index) => {
    it(`apply has the same result: ${what}`, async () => {
      const [ours, theirs] = [`ours-${index}`, `theirs-${index}`];
      for (const name of [ours, theirs])
        await server.call('POST', '/api/v1/namespaces', { metadata: { name } });
      for (const [step, manifest] of manifests.entries()) {
        assert.equal(await applyAs(ctl, ours, manifest), await applyAs(kubectl, theirs, manifest));
        assert.deepEqual(
          await state(ours, resource),
          await state(theirs, resource),
          `after manifest ${step}`,
        );
        assert.match(await applyAs(ctl, ours, manifest), /unchanged/);
        if (step === 0 && meanwhile !== undefined)
          for (const namespace of [ours, theirs]) {
            const { status, err } = await kubectl(['patch', resource, '-n', namespace, '-p', meanwhile]);
            assert.equal(status, 0, err);
          }
      }
      // Either tool can continue after the other.
      const last = manifests.at(-1) ?? {};
      assert.match(await applyAs(ctl, theirs, last), /unchanged/);
    });
  });

  it('applies samples, and kubectl finds nothing to change', async () => {
    const file = join(server.directory, 'all.yaml');
    const manifests = [deployment(), service([{ port: 80 }]), configMap({ a: '<b>' })];
    await writeFile(file, manifests.map((manifest) => formatYaml(manifest)).join('---\n'));
    const { out } = await ctl(['apply', '-f', file]);
    assert.equal(out, 'deployment.apps/web created\nservice/web created\nconfigmap/settings created\n');
    const again = await both(['apply', '-f', file]);
    assert.equal(again.ours.out, out.replaceAll('created', 'unchanged'));
    assert.deepEqual(again.theirs, again.ours);
    assert.deepEqual(await ctl(['apply', '-f', file, '--dry-run=server']), {
      status: 0,
      err: '',
      out: out.replaceAll('created', 'unchanged (server dry run)'),
    });
  });

  for (const args of reads) {
    it(`${args.join(' ')} prints and ends as kubectl does`, async () => {
      const { ours, theirs } = await both(args);
      const isJson = args.includes('json') && ours.out !== '';
      if (isJson) assert.deepEqual(JSON.parse(ours.out), JSON.parse(theirs.out));
      else assert.equal(ours.out, theirs.out);
      assert.equal(ours.status, theirs.status, ours.err);
      // After the timeout of a wait, ctl adds the first cause.
      assert.equal(ours.err.replace(/^Note: deployments\/web: .*\n/, ''), theirs.err);
    });
  }

  for (const args of outputs) {
    it(`${args.join(' ')} ends and prints as kubectl does`, async () => {
      const { ours, theirs } = await both(args);
      assert.deepEqual([ours.status, ours.out], [theirs.status, theirs.out], ours.err + theirs.err);
    });
  }

  describe('files', () => {
    const place = (name: string) => join(server.directory, 'files', name);

    before(async () => {
      await mkdir(place('below/more'), { recursive: true });
      await mkdir(place('none'));
      const named = (name: string) => formatYaml(configMap({}, { name }));
      for (const [name, text] of [
        ['empty.yaml', ''],
        ['comments.yaml', '---\n# nothing\n---\n'],
        ['below/one.yaml', named('one')],
        ['below/more/two.yml', named('two')],
        ['below/readme.txt', 'no manifest'],
        ['unusual.conf', named('unusual')],
        ['columns.txt', 'NAME          KIND\nmetadata.name kind\n'],
        ['names.txt', '{range .items[*]}{.metadata.name}{"\\n"}{end}'],
      ] as const)
        await writeFile(place(name), text);
      assert.equal((await ctl(['apply', '-R', '-f', place('below'), '-f', place('unusual.conf')])).status, 0);
    });

    for (const args of [
      'get -f missing.yaml',
      'get -f empty.yaml',
      'get -f comments.yaml',
      'get -f below -o name',
      'get -R -f below -o name',
      'get -f below -f unusual.conf',
      'get -f below,unusual.conf -o name',
      'apply -f missing.yaml',
      'apply -f empty.yaml',
      'apply -f comments.yaml',
      'apply -f none',
      'apply -f below',
      'apply -R -f below',
      'apply -R -f below -o json',
      'apply -R -f below -o yaml',
      'apply -R -f below --dry-run=client',
      'apply -R -f below --dry-run=client -o name',
      'apply -f -',
      'create -f empty.yaml',
      'create -f -',
      'create -f missing.yaml',
      'delete -f empty.yaml',
      'delete -f missing.yaml',
      'get cm -o custom-columns-file=columns.txt',
      'get cm -o jsonpath-file=names.txt',
    ]) {
      it(args, async () => {
        const words = args
          .split(' ')
          .map((word) => word.replaceAll(/[a-z]+\.(yaml|conf|txt)|^below|^none/g, place));
        const { ours, theirs } = await both(words);
        // ctl adds the reason why files have no objects.
        const err = ours.err.replace(
          /(?<=no objects passed to \w+): \S+ is empty, or has only comments$/m,
          '',
        );
        assert.deepEqual({ ...ours, err }, theirs);
      });
    }

    it('an object that is deleted already is reported with its file', async () => {
      const args = ['delete', '-R', '-f', place('below')];
      assert.equal((await ctl(args)).status, 0);
      const { ours, theirs } = await both(args);
      assert.deepEqual(ours, theirs);
      assert.match(ours.err, /error when deleting ".*one\.yaml": configmaps "one" not found/);
    });
  });

  describe('several ConfigMaps', () => {
    const space = 'several';

    before(async () => {
      await server.call('POST', '/api/v1/namespaces', { metadata: { name: space } });
      const values = ['plain', 'tab\there', 'new\nline', '\t', '\n', 'ü\t\tlong long', 'last'];
      for (const [index, a] of values.entries())
        await server.call('POST', `/api/v1/namespaces/${space}/configmaps`, {
          metadata: { name: `c${index}` },
          data: { a },
        });
    });

    for (const args of [
      'get cm -o custom-columns=A:.data.a,N:.metadata.name',
      'get cm -o custom-columns=N:.metadata.name,A:.data.a,D:.data',
      'get cm -o custom-columns=A:.data.a',
      'get cm c0 c1 -w',
      'get cm c0 c1 -w -o name',
      'get cm c0 c1 -w -o yaml',
      'get cm c0 c1 -w --output-watch-events',
      'get cm c0 c1 --watch-only',
      'get cm c0 none -w',
      'get cm/c0 secret/x -w',
      'get cm,secret -w',
      'get cm,cm -o name',
      'get cm,cm c1 -o name',
    ])
      it(`${args} prints and ends as kubectl does`, async () => {
        const { ours, theirs } = await both([...args.split(' '), '-n', space]);
        assert.deepEqual(ours, theirs);
      });
  });

  it('writes every text as the same YAML', async () => {
    const items = yamlTexts.map(([key], index) => ({ ...configMap({}, { name: `text-${index}` }), key }));
    const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    const args = ['create', '-f', '-', '--dry-run=client', '--validate=false', '-o', 'yaml'];
    const [ours, theirs] = await Promise.all([ctl(args, { stdin }), kubectl(args, { stdin })]);
    assert.deepEqual(ours, theirs);
    const documents = ours.out.split(/^---\n/m);
    assert.equal(documents.length, yamlTexts.length);
    for (const [index, [, written]] of yamlTexts.entries())
      assert.ok(documents[index]?.includes(`\nkey: ${written}\nkind: ConfigMap\n`), written);
  });

  it('explain reports an unknown field', async () => {
    for (const word of ['pods.nosuch', 'pods.spec.containers.nosuch']) {
      const { ours, theirs } = await both(['explain', word]);
      assert.deepEqual([ours.status, ours.err], [theirs.status, theirs.err]);
    }
    const { status, err } = await ctl(['explain', 'nosuch']);
    assert.deepEqual([status, err.includes(`doesn't have a resource type "nosuch"`)], [1, true]);
    assert.equal((await ctl(['explain'])).status, 1);
  });

  it('delete prints the same and waits', async () => {
    const file = join(server.directory, 'all.yaml');
    const theirs = await kubectl(['delete', '-f', file]);
    await ctl(['apply', '-f', file]);
    assert.deepEqual(await ctl(['delete', '-f', file]), theirs);
    assert.match(theirs.out, /^deployment.apps "web" deleted\nservice "web" deleted\n/);
  });
});
