/** The expressions of a Workflow are parsed when it is written, and only its writer waits for that. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestServer, type TestServer } from '../../../../fixtures/api-server.ts';

const path = '/apis/minik8s.io/v1/namespaces/default/workflows';

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.stop());

let made = 0;
const write = (expressions: readonly string[]) => {
  const Output = Object.fromEntries(expressions.map((text, index) => [`e${index}`, `{% ${text} %}`]));
  const definition = {
    QueryLanguage: 'JSONata',
    StartAt: 'A',
    States: { A: { Type: 'Pass', End: true, Output } },
  };
  return server.call('POST', path, { metadata: { name: `w${made++}` }, spec: { definition } });
};
const times = (count: number, text: string) => Array.from({ length: count }, () => text);

describe('the expressions of a workflow', () => {
  it('are rejected with their field if they are invalid, be they few or many', async () => {
    for (const more of [[], times(100, '1 + 1'), times(2, `"${'x'.repeat(3000)}"`)]) {
      const { status, text } = await write([...more, '$sum(', ...more]);
      assert.equal(status, 422, text);
      assert.match(
        text,
        new RegExp(
          `spec.definition.States.A.Output.e${more.length}: Invalid value: .*Expected .*end of expression`,
          'i',
        ),
      );
      assert.equal((await write([...more, '$sum([1, 2])'])).status, 201);
    }
  });
  it('that take seconds to parse delay only the request that contains them', async () => {
    // The parser takes time in proportion to the square of their number.
    const slow = times(4, times(4000, 'a').join('.'));
    const order: string[] = [];
    const written = write(slow).then(({ status }) => order.push(`written ${status}`));
    for (let i = 0; i < 5; i++) {
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal((await server.call('GET', path)).status, 200);
      order.push('read');
    }
    await written;
    assert.deepEqual(order, ['read', 'read', 'read', 'read', 'read', 'written 201']);
  });
  it('are also checked when the workflow is updated', async () => {
    const first = await write(times(100, '1 + 1'));
    const object = first.json<{ metadata: { name: string; resourceVersion?: string } }>();
    delete object.metadata.resourceVersion;
    const change = (text: string) => {
      const body: unknown = JSON.parse(JSON.stringify(object).replace('1 + 1', text));
      return server.call('PUT', `${path}/${object.metadata.name}`, body);
    };
    assert.equal((await change('1 +')).status, 422);
    assert.equal((await change('1 + 2')).status, 200);
  });
  it('in every field, also in nested states and in dry runs, are parsed without delaying other requests', async () => {
    const slow = `{% ${times(4000, 'a').join('.')} %}`;
    const inner = {
      StartAt: 'B',
      States: { B: { Type: 'Pass', Assign: { x: slow }, End: true } },
    };
    const definition = {
      QueryLanguage: 'JSONata',
      StartAt: 'A',
      States: {
        A: { Type: 'Choice', Choices: [{ Condition: slow, Next: 'W' }], Default: 'M' },
        W: { Type: 'Wait', Seconds: slow, Next: 'M' },
        M: { Type: 'Map', Items: slow, ItemProcessor: inner, End: true },
      },
    };
    const order: string[] = [];
    const body = { metadata: { name: 'deep' }, spec: { definition } };
    const written = server
      .call('POST', `${path}?dryRun=All`, body)
      .then(({ status }) => order.push(`written ${status}`));
    for (let i = 0; i < 5; i++) {
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal((await server.call('GET', path)).status, 200);
      order.push('read');
    }
    await written;
    assert.deepEqual(order, ['read', 'read', 'read', 'read', 'read', 'written 201']);
  });
  it('with the deepest nesting for their length are answered, and the next request is parsed', async () => {
    for (const [open, close] of [
      ['(', ')'],
      ['[', ']'],
      ['{"a":', '}'],
      ['-', ''],
      ['function($a){', '}'],
      ['$f(', ')'],
    ] as const) {
      const count = Math.floor(8000 / (open.length + close.length));
      const { status, text } = await write([`${open.repeat(count)}1${close.repeat(count)}`]);
      assert.ok(status === 201 || status === 422, `${open}: ${text.slice(0, 300)}`);
      assert.equal((await write(['1 + 1'])).status, 201);
    }
  });
  it('of many concurrent definitions in one namespace are rejected above a limit', async () => {
    const statuses = (await Promise.all(times(12, '').map(() => write(times(100, '1 + 1'))))).map(
      ({ status }) => status,
    );
    assert.deepEqual(
      [
        statuses.filter((status) => status === 201).length,
        statuses.filter((status) => status === 429).length,
      ],
      [8, 4],
    );
  });
});
