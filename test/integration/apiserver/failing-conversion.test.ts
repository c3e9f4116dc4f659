/**
 * Conversion webhooks that fail, answer wrongly, or do not answer: each affects only the requests that need
 * it.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import type { ConversionRequest, Review } from '../../fixtures/webhook-server.ts';
import {
  type ConversionWorld,
  convert,
  honest,
  startConversionWorld,
  success,
  v1,
  v2,
} from './conversion-world.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const head = 'conversion webhook for example.com/v1, Kind=Host';

/** Converts, and changes each result. */
const converting =
  (change: (object: KubeObject) => unknown): Review<ConversionRequest> =>
  ({ objects, desiredAPIVersion }) =>
    success(objects.map((object) => change(convert(object, desiredAPIVersion))));

const changed = (metadata: object) =>
  converting((object) => ({ ...object, metadata: { ...object.metadata, ...metadata } }));

const wrong: [problem: string, answer: Review<ConversionRequest>, message: RegExp][] = [
  ['changes names', changed({ name: 'x' }), /returned invalid object: must have the same name: a != x$/],
  ['changes UIDs', changed({ uid: 'x' }), /returned invalid object: must have the same UID: .* != x$/],
  [
    'answers in another version',
    ({ objects }) => success(objects),
    /invalid groupVersion \(expected example.com\/v2, received example.com\/v1\)$/,
  ],
  ['loses objects', () => success([]), /returned 0 objects, expected 1$/],
  ['loses metadata', converting(({ metadata: _, ...rest }) => rest), /must have the same name: a != $/],
  [
    'answers with an HTTP error',
    (_, response) => {
      response.writeHead(503).end('not now');
      return undefined;
    },
    /failed: the server is currently unable to handle the request$/,
  ],
  [
    'answers with text that is not JSON',
    (_, response) => {
      response.end('<html>');
      return undefined;
    },
    /failed: couldn't get version\/kind; json parse error: /,
  ],
  [
    'closes the connection',
    (_, response) => {
      response.destroy();
      return undefined;
    },
    /failed: Post "https:\/\/localhost:\d+\/hook\?timeout=30s": EOF$/,
  ],
  [
    'answers with 100 MB',
    (_, response) => {
      const piece = Buffer.alloc(1 << 20, 'x');
      let left = 100;
      const more = () => {
        while (left-- > 0) if (!response.write(piece)) return response.once('drain', more);
        return response.end();
      };
      more();
      return undefined;
    },
    /failed: the answer has more than 4194304 bytes$/,
  ],
];

describe('a conversion webhook', () => {
  let world: ConversionWorld;
  let release = () => {};
  before(async () => {
    world = await startConversionWorld(['v1']);
  });
  after(() => world.stop());
  beforeEach(async () => {
    world.hook.answer(honest);
    const made = await call('POST', v1, { metadata: { name: 'a' }, spec: { hostPort: 'a:1' } });
    assert.equal(made.status, 201, made.text);
    world.hook.requests.length = 0;
  });
  afterEach(async () => {
    release();
    world.hook.answer(honest);
    await call('DELETE', v1);
  });

  const call = (...of: Parameters<ConversionWorld['server']['call']>) => world.server.call(...of);

  for (const [problem, answer, message] of wrong)
    it(`that ${problem} makes only the requests fail that need it`, async () => {
      world.hook.answer(answer);
      for (const path of [`${v2}/a`, v2, `${v2}?watch=true`]) {
        const failed = await call('GET', path);
        assert.equal(failed.status, 500, failed.text);
        const { message: found = '' } = failed.json<Status>();
        assert.ok(found.startsWith(head), found);
        assert.match(found, message);
      }
      const patched = await call('PATCH', `${v2}/a`, { spec: { host: 'b' } }, merge);
      assert.equal(patched.status, 500, patched.text);
      const made = await call('POST', v2, { metadata: { name: 'b' }, spec: { host: 'b' } });
      assert.equal(made.status, 500, made.text);
      assert.equal((await call('GET', `${v1}/b`)).status, 404, 'nothing was stored');
      assert.deepEqual((await world.stored('a')).spec, { hostPort: 'a:1' });
      assert.equal((await call('GET', v1)).status, 200);
      assert.equal((await call('GET', maps)).status, 200);
      // Failures are not kept.
      world.hook.answer(honest);
      assert.equal((await call('GET', `${v2}/a`)).status, 200);
    });

  it('that loses fields returns the remaining fields in the answer to the write', async () => {
    world.hook.answer(({ objects, desiredAPIVersion }) =>
      success(
        objects.map((object) => {
          const made = convert(object, desiredAPIVersion) as KubeObject & { spec: object };
          return desiredAPIVersion.endsWith('/v1') ? { ...made, spec: {} } : made;
        }),
      ),
    );
    const made = await call('POST', v2, { metadata: { name: 'b' }, spec: { host: 'b', port: '2' } });
    assert.equal(made.status, 201, made.text);
    assert.deepEqual((made.json() as unknown as { spec: object }).spec, { host: '' });
  });

  it('that does not answer delays only the requests that need it', async () => {
    hang();
    const ending = new AbortController();
    const options = { signal: ending.signal };
    const watching = call('GET', `${v2}?watch=true`, undefined, options).catch(() => undefined);
    const waiting = [v2, `${v2}/a`].map((path) => call('GET', path));
    const removal = call('DELETE', `${v2}/a`);
    await heard();
    for (let round = 0; round < 20; round++) {
      const name = `m-${round}`;
      assert.equal((await call('POST', maps, { metadata: { name } })).status, 201);
      assert.equal((await call('GET', `${v1}/a`)).status, 200);
      assert.equal((await call('DELETE', `${maps}/${name}`)).status, 200);
    }
    release();
    const statuses = (await Promise.all([...waiting, removal])).map(({ status }) => status);
    ending.abort();
    await watching;
    assert.deepEqual(statuses, [200, 200, 200]);
  });

  it('that does not answer delays neither the deletion of all objects nor reads of metadata in the stored version', async () => {
    hang();
    const partial = {
      headers: { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' },
    };
    const listed = await call('GET', v1, undefined, partial);
    assert.match(listed.text, /PartialObjectMetadataList/);
    assert.equal((await call('DELETE', v1)).status, 200);
    assert.equal(world.hook.requests.length, 0);
  });

  it('that does not answer does not use up the limit of concurrent requests', async () => {
    hang();
    const many = Array.from({ length: 450 }, () => call('GET', `${v2}/a`));
    await heard();
    assert.equal((await call('GET', maps)).status, 200);
    release();
    const statuses = new Set((await Promise.all(many)).map(({ status }) => status));
    assert.ok(statuses.has(200));
    for (const status of statuses) assert.ok(status === 200 || status === 429, String(status));
  });

  it('that is unreachable makes its callers fail with the reason', async () => {
    await world.change({ conversion: { webhook: { clientConfig: { url: 'https://localhost:1/hook' } } } });
    const failed = await call('GET', `${v2}/a`);
    assert.equal(failed.status, 500, failed.text);
    assert.match(
      failed.json<Status>().message ?? '',
      /failed: Post "https:\/\/localhost:1\/hook\?timeout=30s": dial/,
    );
    assert.equal((await call('GET', `${v1}/a`)).status, 200);
    await world.change({ conversion: { webhook: { clientConfig: { url: world.hook.url } } } });
    assert.equal((await call('GET', `${v2}/a`)).status, 200);
  });

  /** Lets the webhook answer nothing until `release`. */
  function hang(): void {
    const over = Promise.withResolvers<void>();
    release = over.resolve;
    world.hook.answer(async (request) => {
      await over.promise;
      return honest(request);
    });
  }

  /** Resolves when the webhook has got a request. */
  async function heard(): Promise<void> {
    while (world.hook.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  }
});

const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
