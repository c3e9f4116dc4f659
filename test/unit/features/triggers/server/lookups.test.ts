/** Triggers that match a path, or the function whose results they report; and parsing of a body. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../../../../src/apimachinery/meta.ts';
import { maxDepth } from '../../../../../src/apimachinery/value-limit.ts';
import type { Trigger } from '../../../../../src/features/triggers/api/trigger.ts';
import { bodyData } from '../../../../../src/features/triggers/server/body-data.ts';
import { Intake } from '../../../../../src/features/triggers/server/intake.ts';
import { triggerPaths } from '../../../../../src/features/triggers/server/trigger-paths.ts';
import type { Cache, IndexDeclaration } from '../../../../../src/storage/cache.ts';
import { at, meta } from '../../../controllers/objects.ts';

const cacheOf = (objects: readonly KubeObject[]) =>
  ({
    index: ({ keysOf }: IndexDeclaration) => ({
      get: (key: string) =>
        objects.filter((object) => [...keysOf(object)].includes(key)).map((object) => ({ object })),
    }),
  }) as unknown as Cache;
const trigger = (name: string, spec: object, over: object = {}): Trigger =>
  ({ metadata: meta(name, over), spec }) as unknown as Trigger;

describe('a path below /trigger', () => {
  const http = { http: { path: '/a/b' } };
  const find = triggerPaths(
    cacheOf([
      trigger('other', http, { namespace: 'other' }),
      trigger('younger', http, { creationTimestamp: at(5) }),
      trigger('older', http),
      trigger('leaving', { http: { path: '/c' } }, { deletionTimestamp: at(1) }),
      trigger('root', { http: { path: '/' } }),
      trigger('nowhere', { http: { path: '/a' } }, { namespace: '' }),
      trigger('pathless', {}),
    ]),
  );
  const of = (namespace: string, name: string) =>
    `/apis/minik8s.io/v1/namespaces/${namespace}/triggers/${name}/invoke`;
  it('is that of the oldest trigger of its namespace with the path', () => {
    assert.equal(find('/trigger/default/a/b'), of('default', 'older'));
    assert.equal(find('/trigger/other/a/b'), of('other', 'other'));
  });
  it('may be the root of a namespace, with its slash', () => {
    assert.equal(find('/trigger/default/'), of('default', 'root'));
  });
  it('matches no trigger without a path, even if its name is equal', () => {
    const only = triggerPaths(cacheOf([trigger('pathless', {}, { namespace: 'a' })]));
    assert.equal(only('/trigger/aundefined/'), undefined);
    assert.equal(only('/trigger/a/undefined'), undefined);
  });
  for (const path of [
    ...['/trigger', '/trigger/', '/trigger/default', '/trigger/defaultundefined', '/default/a/b', '', '/'],
    ...['/trigger/default/a/B', '/trigger/default/a/b/', '/trigger/default//a/b', '/trigger/default/a%2fb'],
    ...[
      '/trigger/third/a/b',
      '/trigger/a/b',
      '/trigger/default/c',
      '/trigger//default/a/b',
      '/triggers/default/a/b',
    ],
  ])
    it(`matches no trigger: ${path}`, () => assert.equal(find(path), undefined));
});

it("results go to triggers in the function's namespace that exist and are not suspended", () => {
  const result = { result: { function: 'f', outcomes: ['Success'] } };
  const cache = cacheOf([
    trigger('one', result),
    trigger('resting', { ...result, suspend: true }),
    trigger('leaving', result, { deletionTimestamp: at(1) }),
    trigger('other', result, { namespace: 'other' }),
  ]);
  const intake = new Intake({ cache, handler: () => assert.fail() });
  assert.deepEqual(
    intake.triggersOfResults('default', 'f').map(({ metadata }) => metadata.name),
    ['one'],
  );
});

describe('a body', () => {
  const deep = (levels: number) => Buffer.from('['.repeat(levels) + ']'.repeat(levels));
  it('is JSON up to the depth that an event can contain, and a text beyond that', () => {
    const most = maxDepth - 20;
    assert.ok(Array.isArray(bodyData('application/json', deep(most)).body));
    assert.equal(typeof bodyData('application/json', deep(most + 1)).body, 'string');
  });
  it('is base64 if it is not text, and text if its content type is a text type', () => {
    assert.deepEqual(bodyData('', Buffer.from([0xff])), { body: '/w==', isBase64: true });
    assert.deepEqual(bodyData('text/plain', Buffer.from('[1]')), { body: '[1]' });
    assert.deepEqual(bodyData('text/plain', Buffer.from('{"a":1}')), { body: { a: 1 } });
    assert.deepEqual(bodyData('application/cloudevents+json; charset=utf-8', Buffer.from('[1]')), {
      body: [1],
    });
    assert.deepEqual(bodyData('application/json', Buffer.alloc(0)), {});
    assert.deepEqual(bodyData('', Buffer.from('[1]')), { body: [1] });
    assert.deepEqual(bodyData(' ;charset=utf-8', Buffer.from('[1]')), { body: [1] });
    assert.deepEqual(bodyData(' Application/JSON ;charset=utf-8', Buffer.from('[1]')), { body: [1] });
    assert.deepEqual(bodyData('application/jsonp', Buffer.from('[1]')), { body: '[1]' });
  });
});
