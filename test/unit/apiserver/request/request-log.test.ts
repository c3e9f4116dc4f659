import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { auditIdOf } from '../../../../src/apiserver/request/audit-id.ts';
import { shownPath } from '../../../../src/apiserver/request/request-log.ts';
import { createLogger } from '../../../../src/terminal/consola-logger.ts';
import { parseLogLevels } from '../../../../src/terminal/log-levels.ts';
import { admin, startTestServer } from '../../../fixtures/api-server.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';

const idFor = (id: string) =>
  auditIdOf(new Request('https://x/', { headers: { 'audit-id': id } }), new SeededRandom(1));

describe('the id of a request', () => {
  test('is its client’s, up to 64 printable characters', () => {
    for (const id of ['7', 'a'.repeat(64), 'a/b:c"d']) assert.equal(idFor(id), id);
  });

  test('is a generated id otherwise', () => {
    const ours = new SeededRandom(1).uuid();
    for (const id of ['', 'a'.repeat(65), 'two words', 'é']) assert.equal(idFor(id), ours);
  });

  test('is the same at each call for one request', () => {
    const [request, random] = [new Request('https://x/'), new SeededRandom(1)];
    const first = auditIdOf(request, random);
    assert.equal(auditIdOf(request, random), first);
    assert.notEqual(auditIdOf(new Request('https://x/'), random), first);
  });
});

for (const [path, shown] of [
  ['/api/v1/namespaces/default/pods/web/log', '/api/v1/namespaces/default/pods/web/log'],
  ['/api/v1/namespaces/default/pods/web/proxy', '/api/v1/namespaces/default/pods/web/proxy'],
  ['/api/v1/namespaces/default/pods/web/proxy/reset/hunter2', '/api/v1/namespaces/default/pods/web/proxy/…'],
  ['/api/v1/nodes/n/proxy/run/hunter2', '/api/v1/nodes/n/proxy/…'],
  [
    '/apis/minik8s.io/v1/namespaces/default/functions/f/invoke/hunter2',
    '/apis/minik8s.io/v1/namespaces/default/functions/f/invoke/…',
  ],
  ['/healthz', '/healthz'],
  ['/api/v1/namespaces/%zz/pods', '(not a path)'],
  [`/${'a'.repeat(600)}`, `/${'a'.repeat(499)}…`],
] as const) {
  test(`${path.slice(0, 70)} is logged as ${shown.slice(0, 70)}`, () => assert.equal(shownPath(path), shown));
}

describe('at debug', () => {
  async function linesOf(level: string, path: string, headers: Record<string, string> = {}) {
    const lines: string[] = [];
    const log = createLogger({
      levels: parseLogLevels(level),
      format: 'json',
      write: (line) => lines.push(line),
    });
    const server = await startTestServer({ log });
    try {
      const answer = await server.clock.until(server.call('GET', path, undefined, { headers }));
      const answers = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'answered a request');
      return { answer, lines: answers.filter((line) => line.path === path.split('?', 1)[0]) };
    } finally {
      await server.stop();
    }
  }

  test('a request is one line, with the id that its client gave it', async () => {
    const { answer, lines } = await linesOf(
      'error,apiserver=debug',
      '/api/v1/namespaces/default/pods/web?pretty=hunter2',
      { 'audit-id': 'my-request' },
    );
    assert.equal(answer.headers.get('audit-id'), 'my-request');
    assert.deepEqual(
      lines.map(({ ts, ms, ...rest }) => rest),
      [
        {
          level: 'debug',
          component: 'apiserver',
          msg: 'answered a request',
          method: 'GET',
          path: '/api/v1/namespaces/default/pods/web',
          user: admin.name,
          status: 404,
          id: 'my-request',
        },
      ],
    );
    assert.equal(typeof lines[0].ms, 'number');
  });

  test('a request without a resource has an id too', async () => {
    const { answer, lines } = await linesOf('debug', '/version');
    assert.equal(lines.length, 1);
    assert.deepEqual([lines[0].path, lines[0].status], ['/version', 200]);
    assert.equal(lines[0].id, answer.headers.get('audit-id'));
  });

  test('a request is not logged at other levels', async () => {
    const { lines } = await linesOf('debug,apiserver=info', '/version');
    assert.deepEqual(lines, []);
  });
});
