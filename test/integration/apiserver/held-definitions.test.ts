/**
 * Definitions and objects of custom kinds whose validation takes long: other requests are answered meanwhile,
 * and no turn of the event loop takes more than five times the promised time (see held-loop.test.ts).
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type MeteredCall, MeteredProcess, turnsBeyond } from '../../fixtures/metered-process.ts';

const boundSeconds = 0.5;
/**
 * Number of other requests that must be answered in the time of a long one. Their number depends on the
 * speed of the machine; the meter shows that no turn of the loop was long.
 */
const minAnswers = 1;

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const times = <T>(count: number, item: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => item(index));

/** Returns a definition of the kind; `spec` is the schema of the field of that name. */
const definition = (kind: string, spec: object) => {
  const plural = `${kind.toLowerCase()}s`;
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.held.example.com` },
    spec: {
      group: 'held.example.com',
      scope: 'Cluster',
      names: { plural, kind },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
};

const call = (method: string, path: string, body?: object, type = 'application/json'): MeteredCall => ({
  ...{ what: path, method, path, headers: { 'content-type': type } },
  ...(body && { body: JSON.stringify(body) }),
});

const numbers = { type: 'array', maxItems: 1000, items: { type: 'integer' } };
const manyRules = definition('Ruled', {
  type: 'object',
  properties: { size: { type: 'integer' } },
  'x-kubernetes-validations': times(1500, (index) => ({ rule: `self.size >= 0 || self.size < ${index}` })),
});
const manyPatterns = definition('Patterned', {
  type: 'object',
  properties: Object.fromEntries(
    times(3000, (index) => [`p${index}`, { type: 'string', pattern: `^[a-z0-9]{1,40}(-x${index})*$` }]),
  ),
});
const longRule = `self.size >= 0 && [${times(18_000, (index) => index % 10).join()}].size() > 1${' && self.size < 9'.repeat(2000)}`;
const oneLongRule = definition('Long', {
  type: 'object',
  properties: { size: { type: 'integer' } },
  'x-kubernetes-validations': [{ rule: longRule }],
});
const alternatives = definition('Alternative', {
  type: 'object',
  properties: {
    text: { type: 'string', anyOf: times(200, (index) => ({ pattern: `^([a-z]+)+(x${index})?$` })) },
  },
});
/** Rules whose estimate is low enough, and whose evaluation takes the whole budget of a request. */
const loops = definition('Looped', {
  type: 'object',
  properties: { numbers },
  'x-kubernetes-validations': times(8, (index) => ({
    rule: `self.numbers.all(a, self.numbers.exists(b, a == b || b < -${index + 1}))`,
  })),
});

let server: MeteredProcess;
before(async () => {
  server = await MeteredProcess.start();
});
after(() => server?.stop());

/**
 * Sends a request, and small ones until it is answered. Returns its status, its text and the number of small
 * ones.
 */
async function besideOthers(long: MeteredCall) {
  let isAnswered = false;
  const sent = server.send(long).finally(() => {
    isAnswered = true;
  });
  let answers = 0;
  for (; !isAnswered; answers++) {
    const other = await server.send(call('GET', '/api/v1/namespaces/default/configmaps?limit=1'));
    assert.equal(other.status, 200);
  }
  const { status, body } = await sent;
  return { status, text: body.toString(), answers };
}

/** Accepts the names as the controller does, so that the kind is served. */
async function serve({ metadata: { name }, spec }: ReturnType<typeof definition>): Promise<void> {
  const conditions = ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' }));
  const status = { acceptedNames: spec.names, conditions };
  const type = 'application/merge-patch+json';
  const accepted = await server.send(call('PATCH', `${definitions}/${name}/status`, { status }, type));
  assert.equal(accepted.status, 200, accepted.body?.toString());
}

async function unheld<T>(work: () => Promise<T>): Promise<T> {
  const held = turnsBeyond((await server.held()).page, boundSeconds);
  const result = await work();
  const { lines, page } = await server.held();
  assert.equal(turnsBeyond(page, boundSeconds), held, lines.join());
  return result;
}

describe('other requests are answered while', () => {
  const rows: [what: string, of: ReturnType<typeof definition>, status: number][] = [
    ['a definition with thousands of rules is validated', manyRules, 201],
    ['a definition with thousands of patterns is validated', manyPatterns, 201],
    ['a definition with alternatives is validated', alternatives, 201],
  ];
  for (const [what, of, expected] of rows)
    test(what, () =>
      unheld(async () => {
        const { status, text, answers } = await besideOthers(call('POST', definitions, of));
        assert.equal(status, expected, text.slice(0, 1000));
        if (of !== alternatives) assert.ok(answers >= minAnswers, `${answers} answers`);
      }),
    );

  test('a rule of nearly the maximum length is compiled', () =>
    unheld(async () => {
      const { status, text, answers } = await besideOthers(call('POST', definitions, oneLongRule));
      assert.ok(status === 201 || status === 422, text.slice(0, 1000));
      assert.ok(answers >= minAnswers, `${answers} answers`);
    }));

  const objects: [what: string, of: ReturnType<typeof definition>, spec: object, status: number][] = [
    ['the rules of a kind are compiled for its first object', manyRules, { size: 1 }, 201],
    ['a long text is compared with many patterns', alternatives, { text: `${'a'.repeat(40_000)}!` }, 422],
    ['rules spend the budget of a request', loops, { numbers: times(1000, (index) => index) }, 422],
  ];
  for (const [what, of, spec, expected] of objects)
    test(what, async () => {
      await server.send(call('POST', definitions, of));
      await serve(of);
      await unheld(async () => {
        const { names } = of.spec;
        const object = { metadata: { name: 'a' }, spec };
        const path = `/apis/held.example.com/v1/${names.plural}`;
        const { status, text, answers } = await besideOthers(call('POST', path, object));
        assert.equal(status, expected, text.slice(0, 1000));
        assert.ok(answers >= minAnswers, `${answers} answers`);
      });
    });
});
