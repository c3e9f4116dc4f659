/** Custom resources whose versions a webhook converts: reads, writes, watches, apply and subresources. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import {
  type ConversionWorld,
  convert,
  definitions,
  honest,
  startConversionWorld,
  v1,
  v2,
  versions,
} from './conversion-world.ts';

type Host = KubeObject & { spec: JsonObject; status?: JsonObject };

const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
const apply = { headers: { 'content-type': 'application/apply-patch+yaml' } };
const table = { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } };

for (const reviewVersion of ['v1', 'v1beta1'])
  describe(`a kind that a webhook converts by ConversionReview ${reviewVersion}`, () => {
    let world: ConversionWorld;
    before(async () => {
      world = await startConversionWorld(['v99', reviewVersion]);
    });
    after(() => world.stop());
    beforeEach(() => {
      world.hook.requests.length = 0;
      world.hook.answer(honest);
    });
    afterEach(async () => {
      await world.server.call('DELETE', v1);
    });

    const call = (...of: Parameters<ConversionWorld['server']['call']>) => world.server.call(...of);
    const make = async (path: string, name: string, spec: object) => {
      const answer = await call('POST', path, { metadata: { name }, spec });
      assert.equal(answer.status, 201, answer.text);
      return answer.json<Host>();
    };
    const read = async (path: string) => {
      const answer = await call('GET', path);
      assert.equal(answer.status, 200, answer.text);
      return answer.json<Host>();
    };

    it('is stored in the stored version and answered in the version of the request', async () => {
      const made = await make(v2, 'a', { host: 'a.example', port: '1' });
      assert.deepEqual([made.apiVersion, made.spec], ['example.com/v2', { host: 'a.example', port: '1' }]);
      const stored = await world.stored('a');
      assert.deepEqual([stored.apiVersion, stored.spec], ['example.com/v1', { hostPort: 'a.example:1' }]);
      assert.deepEqual((await read(`${v1}/a`)).spec, { hostPort: 'a.example:1' });
      assert.deepEqual((await read(`${v2}/a`)).spec, { host: 'a.example', port: '1' });
      const [request] = world.hook.requests;
      assert.equal(request?.desiredAPIVersion, 'example.com/v1');
      assert.deepEqual(
        request?.objects.map((object) => (object as Host).spec.host),
        ['a.example'],
      );
    });

    it('sends no object to the webhook that is already in the requested version', async () => {
      await make(v1, 'a', { hostPort: 'a:1' });
      await read(`${v1}/a`);
      await call('PATCH', `${v1}/a`, { spec: { hostPort: 'a:2' } }, merge);
      assert.equal(world.hook.requests.length, 0);
    });

    it('gets the defaults of the version of the request', async () => {
      const made = await make(v2, 'a', { host: 'a' });
      assert.deepEqual(made.spec, { host: 'a', port: '80' });
      assert.deepEqual((await world.stored('a')).spec, { hostPort: 'a:80' });
    });

    it('loses the fields that the version of the answer does not have', async () => {
      await make(v1, 'a', { hostPort: 'a:1' });
      world.hook.answer(({ objects, desiredAPIVersion }) => ({
        result: { status: 'Success' },
        convertedObjects: objects.map((object) => {
          const made = convert(object, desiredAPIVersion) as Host;
          return { ...made, spec: { ...made.spec, unknown: 'x' } };
        }),
      }));
      assert.deepEqual((await read(`${v2}/a`)).spec, { host: 'a', port: '1' });
    });

    it('is listed with objects of several stored versions, in one call of the webhook', async () => {
      await make(v1, 'a', { hostPort: 'a:1' });
      await make(v1, 'b', { hostPort: 'b:2' });
      await world.change({ versions: versions('v2') });
      await make(v1, 'c', { hostPort: 'c:3' });
      assert.deepEqual((await world.stored('c')).apiVersion, 'example.com/v2');
      world.hook.requests.length = 0;
      const { items } = (await call('GET', v2)).json<{ items: Host[] }>();
      assert.deepEqual(
        items.map(({ apiVersion, spec }) => [apiVersion, spec.host]),
        [
          ['example.com/v2', 'a'],
          ['example.com/v2', 'b'],
          ['example.com/v2', 'c'],
        ],
      );
      assert.deepEqual(
        world.hook.requests.map(({ objects }) => objects.map(({ metadata }) => metadata.name)),
        [['a', 'b']],
      );
      await call('GET', v2);
      assert.equal(world.hook.requests.length, 1, 'what was converted is kept');
      await world.change({ versions: versions('v1') });
    });

    it('is stored in the new version by an update that changes nothing', async () => {
      await make(v1, 'a', { hostPort: 'a:1' });
      await world.change({ versions: versions('v2') });
      const before = await read(`${v1}/a`);
      const answer = await call('PUT', `${v1}/a`, before);
      assert.equal(answer.status, 200, answer.text);
      const stored = await world.stored('a');
      assert.deepEqual(
        [stored.apiVersion, stored.spec, stored.metadata.generation],
        ['example.com/v2', { host: 'a', port: '1' }, 1],
      );
      await world.change({ versions: versions('v1') });
    });

    it('is patched, selected, counted and shown in the version of the request', async () => {
      await make(v1, 'a', { hostPort: 'a:1' });
      await make(v1, 'b', { hostPort: 'b:1' });
      const patched = await call('PATCH', `${v2}/a`, { spec: { port: '7' } }, merge);
      assert.deepEqual(patched.json<Host>().spec, { host: 'a', port: '7' });
      assert.deepEqual((await world.stored('a')).spec, { hostPort: 'a:7' });
      const chosen = await call('GET', `${v2}?fieldSelector=spec.host%3Db`);
      assert.deepEqual(
        chosen.json<{ items: Host[] }>().items.map(({ metadata }) => metadata.name),
        ['b'],
      );
      assert.equal((await call('GET', `${v1}?fieldSelector=spec.host%3Db`)).status, 400);
      const rows = (await call('GET', v2, undefined, table)).json<{ rows: { cells: unknown[] }[] }>().rows;
      assert.deepEqual(
        rows.map(({ cells }) => cells),
        [
          ['a', 'a'],
          ['b', 'b'],
        ],
      );
      const page = (await call('GET', `${v2}?limit=1`)).json<{ items: Host[]; metadata: JsonObject }>();
      assert.deepEqual(page.items[0]?.spec, { host: 'a', port: '7' });
      const rest = (await call('GET', `${v2}?continue=${String(page.metadata.continue)}`)).json<{
        items: Host[];
      }>();
      assert.deepEqual(rest.items[0]?.spec, { host: 'b', port: '1' });
    });

    it('has the status and the scale of the version of the request', async () => {
      await make(v1, 'a', { hostPort: 'a:1', replicas: 2 });
      const status = await call(
        'PATCH',
        `${v2}/a/status`,
        { spec: { host: 'x' }, status: { note: 'n' } },
        merge,
      );
      assert.deepEqual([status.json<Host>().spec.host, status.json<Host>().status], ['a', { note: 'n' }]);
      const scale = await call('PATCH', `${v2}/a/scale`, { spec: { replicas: 5 } }, merge);
      assert.equal(scale.status, 200, scale.text);
      const stored = (await world.stored('a')) as Host;
      assert.deepEqual([stored.spec.replicas, stored.status], [5, { note: 'n' }]);
      const shown = (await call('GET', `${v2}/a/scale`)).json<{ spec: { replicas: number } }>();
      assert.equal(shown.spec.replicas, 5);
    });

    it('is applied, with managers in other versions', async () => {
      const body = (apiVersion: string, spec: object) => ({
        ...{ apiVersion: `example.com/${apiVersion}`, kind: 'Host', metadata: { name: 'a' } },
        spec,
      });
      const first = await call('PATCH', `${v1}/a?fieldManager=one`, body('v1', { hostPort: 'a:1' }), apply);
      assert.equal(first.status, 201, first.text);
      const other = await call('PATCH', `${v2}/a?fieldManager=two`, body('v2', { copies: 3 }), apply);
      assert.equal(other.status, 200, other.text);
      assert.deepEqual((await world.stored('a')).spec, { hostPort: 'a:1', replicas: 3 });
      const clash = await call(
        'PATCH',
        `${v2}/a?fieldManager=two`,
        body('v2', { port: '9', copies: 3 }),
        apply,
      );
      assert.equal(clash.status, 409, clash.text);
      assert.match(clash.text, /conflict with \\"one\\": \.spec\.hostPort/);
      const forced = await call(
        'PATCH',
        `${v2}/a?fieldManager=two&force=true`,
        body('v2', { port: '9' }),
        apply,
      );
      assert.equal(forced.status, 200, forced.text);
      const { spec, metadata } = forced.json<Host>();
      // The first manager has lost its field, and the fields that the second one no longer applies are
      // removed.
      assert.deepEqual(spec, { host: 'a', port: '9' });
      assert.deepEqual(
        (metadata.managedFields as JsonObject[] | undefined)?.map((entry) => [
          entry.manager,
          entry.apiVersion,
        ]),
        [['two', 'example.com/v2']],
      );
    });

    it('is deleted in another version, with its last state', async () => {
      const answer = await call('POST', v1, {
        metadata: { name: 'a', finalizers: ['example.com/f'] },
        spec: { hostPort: 'a:1' },
      });
      assert.equal(answer.status, 201, answer.text);
      const marked = (await call('DELETE', `${v2}/a`)).json<Host>();
      assert.deepEqual([marked.apiVersion, marked.spec.host], ['example.com/v2', 'a']);
      const freed = await call('PATCH', `${v2}/a`, { metadata: { finalizers: null } }, merge);
      assert.equal(freed.status, 200, freed.text);
      assert.equal((await call('GET', `${v1}/a`)).status, 404);
    });

    it('does everything except the write in a dry run', async () => {
      const made = await call('POST', `${v2}?dryRun=All`, { metadata: { name: 'a' }, spec: { host: 'a' } });
      assert.equal(made.status, 201, made.text);
      assert.equal((await call('GET', `${v1}/a`)).status, 404);
    });

    it('converts a watched event once for any number of watches', async () => {
      await make(v1, 'a', { hostPort: 'a:1' });
      const watches = await Promise.all(
        ['', '&fieldSelector=spec.host%3Da', ''].map((more) => open(`${v2}?watch=true${more}`)),
      );
      const plain = await open(`${v1}?watch=true`);
      for (const watch of watches) assert.deepEqual(await watch.next(), ['ADDED', 'example.com/v2', '1']);
      assert.equal((await plain.next())?.[1], 'example.com/v1');
      world.hook.requests.length = 0;
      await call('PATCH', `${v1}/a`, { spec: { hostPort: 'a:2' } }, merge);
      for (const watch of watches) assert.deepEqual(await watch.next(), ['MODIFIED', 'example.com/v2', '2']);
      assert.equal(world.hook.requests.length, 1);
      await call('PATCH', `${v1}/a`, { spec: { hostPort: 'b:2' } }, merge);
      assert.deepEqual(await watches[1]?.next(), ['DELETED', 'example.com/v2', '2']);
      await call('DELETE', `${v1}/a`);
      assert.deepEqual(await watches[0]?.next(), ['MODIFIED', 'example.com/v2', '2']);
      assert.deepEqual(await watches[0]?.next(), ['DELETED', 'example.com/v2', '2']);
      for (const watch of [...watches, plain]) watch.end();
    });

    it('ends a watch with an error when an event cannot be converted', async () => {
      const watch = await open(`${v2}?watch=true`);
      const stored = await open(`${v1}?watch=true`);
      world.hook.answer(() => ({ result: { status: 'Failure', message: 'no such port' } }));
      await make(v1, 'a', { hostPort: 'a:1' });
      assert.deepEqual(await watch.next(), [
        'ERROR',
        'v1',
        'conversion webhook for example.com/v1, Kind=Host failed: no such port',
      ]);
      assert.equal(await watch.next(), undefined);
      assert.equal((await stored.next())?.[0], 'ADDED');
      stored.end();
    });

    it('is removed with its definition although the webhook does not answer', async () => {
      await make(v1, 'a', { hostPort: 'a:1' });
      world.hook.answer(() => ({ result: { status: 'Failure' } }));
      const answer = await call('DELETE', v1);
      assert.equal(answer.status, 200, answer.text);
      assert.equal((await call('GET', definitions)).status, 200);
    });

    /** Opens a watch; `next` resolves to the type, the version and the port or message of an event. */
    async function open(path: string) {
      const ending = new AbortController();
      const handler = world.server.handlerFor({ name: 'admin', groups: ['system:masters'] });
      const answer = await handler(new Request(`https://apiserver${path}`, { signal: ending.signal }));
      assert.equal(answer.status, 200);
      const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
      let rest = '';
      return {
        end: () => ending.abort(),
        async next(): Promise<[string, string, unknown] | undefined> {
          while (!rest.includes('\n')) {
            const { value, done } = (await reader?.read()) ?? { done: true };
            if (done) return undefined;
            rest += value ?? '';
          }
          const [line = ''] = rest.split('\n', 1);
          rest = rest.slice(line.length + 1);
          const { type, object } = JSON.parse(line) as { type: string; object: Host & { message?: string } };
          const { port, hostPort } = object.spec ?? {};
          return [type, object.apiVersion, object.message ?? port ?? hostPort];
        },
      };
    }
  });
