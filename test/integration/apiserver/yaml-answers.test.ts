/** Clients that request YAML receive the same data as in JSON. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { parseYaml } from '../../../src/apimachinery/yaml.ts';
import { createYamlWriter } from '../../../src/apiserver/body/yaml-thread.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const yaml = { headers: { accept: 'application/yaml' } };
const table = ';as=Table;v=v1;g=meta.k8s.io';

describe('answers in YAML', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
    const data = { on: 'off', number: '1e3', lines: 'a\nb\n', sign: '=' };
    const both = { headers: { 'content-type': 'application/yaml', accept: 'application/yaml' } };
    const text = `metadata: {name: one}\ndata: ${JSON.stringify(data)}\n`;
    const made = await server.call('POST', maps, text, both);
    assert.equal(made.status, 201, made.text);
    assert.equal(made.headers.get('content-type'), 'application/yaml');
    assert.deepEqual((parseYaml(made.text).value as { data: object }).data, data);
  });
  after(() => server.stop());

  for (const [what, path, form] of [
    ['an object', `${maps}/one`, ''],
    ['a list', maps, ''],
    ['a table', maps, table],
    ['metadata', `${maps}/one`, ';as=PartialObjectMetadata;v=v1;g=meta.k8s.io'],
  ] as const) {
    it(`contain for ${what} the same as JSON`, async () => {
      const ask = (type: string) =>
        server.call('GET', path, undefined, { headers: { accept: `${type}${form}` } });
      const answer = await ask('application/yaml');
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.headers.get('content-type'), 'application/yaml');
      assert.ok(!answer.text.startsWith('{'));
      assert.deepEqual(parseYaml(answer.text).value, (await ask('application/json')).json());
    });
  }

  it('are not used for a watch or for errors', async () => {
    const watch = await server.call('GET', `${maps}?watch=1`, undefined, yaml);
    assert.equal(watch.status, 406);
    const absent = await server.call('GET', `${maps}/absent`, undefined, yaml);
    assert.deepEqual([absent.status, absent.json<Status>().reason], [404, 'NotFound']);
  });

  it('are not used for long answers', async () => {
    for (let index = 0; index < 5; index++) {
      const data = { a: 'x'.repeat(1_000_000) };
      await server.call('POST', maps, { metadata: { name: `large-${index}` }, data });
    }
    const all = await server.call('GET', maps, undefined, yaml);
    assert.equal(all.status, 406);
    assert.match(all.json<Status>().message ?? '', /more than 4 MiB.*ask for JSON, or for pages/);
    const page = await server.call('GET', `${maps}?limit=2`, undefined, yaml);
    assert.equal(page.status, 200);
  });

  it('are written in turns of the users, and only a few at once for one user', async () => {
    const write = createYamlWriter(new FakeClock());
    const order: string[] = [];
    const long = JSON.stringify({ a: 'x'.repeat(70_000) });
    const ask = (user: string) => write(long, user).then(() => order.push(user));
    await Promise.all([ask('alice'), ask('alice'), ask('alice'), ask('bob')]);
    assert.deepEqual(order, ['alice', 'alice', 'bob', 'alice']);
    const many = Array.from({ length: 16 }, () => write('{}', 'alice'));
    await assert.rejects(write('{}', 'alice'), /too much YAML of the user waits already/);
    assert.equal(await write('{}', 'bob'), '{}\n');
    await Promise.all(many);
  });

  it('report that the thread does not end', async () => {
    const clock = new FakeClock();
    const write = createYamlWriter(clock);
    const late = assert.rejects(
      write('{}', 'alice'),
      /cannot be written as YAML: it took longer than 5 s; ask for JSON/,
    );
    while (clock.pending === 0) await setImmediate();
    await clock.advance(5000);
    await late;
    assert.equal(await write('{"a":[1]}', 'alice'), 'a:\n- 1\n');
  });
});
