/**
 * One request id in the logs of the API server and of the agent for a client's request to a pod: over TLS,
 * with a real agent.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { createLogger } from '../../../src/terminal/consola-logger.ts';
import { parseLogLevels } from '../../../src/terminal/log-levels.ts';
import { type Ctl, ctlFor } from '../../fixtures/ctl.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { type StreamCluster, startStreamCluster } from './stream-cluster.ts';

type Line = Readonly<Record<string, unknown>>;

describe('the id of a command', { timeout: 120_000 }, () => {
  const written: string[] = [];
  let cluster: StreamCluster;
  let ctl: Ctl;

  before(async () => {
    const write = (line: string) => void written.push(line);
    const levels = parseLogLevels('debug');
    cluster = await startStreamCluster(undefined, createLogger({ levels, format: 'json', write }));
    ctl = ctlFor(await cluster.server.kubeconfigFor('kubernetes-admin', ['system:masters']));
  });
  after(() => cluster.stop());

  const linesWith = (id: string, component: string): Line[] =>
    written.map((line) => JSON.parse(line)).filter((line) => line.id === id && line.component === component);

  /** Returns the ids in the lines of a component whose path matches. */
  const idsOf = (component: string, path: RegExp): unknown[] =>
    written
      .map((line) => JSON.parse(line))
      .filter((line) => line.component === component && path.test(String(line.path)))
      .map(({ id }) => id);

  it('is in the logs of the API server and the agent when logs are read, programs are run and streams are opened', async () => {
    await ctl(['logs', 'web']);
    await ctl(['exec', 'web', '--', 'words', 'hunter2']);
    await ctl(['get', '--raw', '/api/v1/namespaces/default/pods/web:8090/proxy/hunter2']);
    await ctl(['get', '--raw', '/api/v1/nodes/n1/proxy/pods']);
    for (const [asked, told] of [
      [/\/pods\/web\/log$/, /^\/containerLogs\/default\/web\/main$/],
      [/\/pods\/web\/exec$/, /^\/exec\/default\/web\//],
      [/\/pods\/web:8090\/proxy/, /^\/connect\/default\/web\/8090$/],
      [/\/nodes\/n1\/proxy/, /^\/pods$/],
    ] as const) {
      const [id] = await eventually(systemClock, `${told} in the log of the agent`, () => {
        const ids = idsOf('kubelet', told);
        return ids.length > 0 && ids;
      });
      assert.match(String(id), /^[0-9a-f-]{36}$/);
      await eventually(systemClock, `${id} in the log of the API server`, () =>
        idsOf('apiserver', asked).includes(id),
      );
      // ctl requests the pod first: both requests of a command have the same id.
      assert.ok(linesWith(String(id), 'apiserver').length >= 1);
    }
    assert.doesNotMatch(written.join(''), /hunter2/);
  });

  it('is printed with an error of the server if requested', async () => {
    const { err } = await ctl(['get', 'pod', 'nope', '-v', '1']);
    const [first, second = ''] = err.split('\n');
    assert.equal(first, 'Error from server (NotFound): pods "nope" not found');
    const [, id = ''] = /^request id: ([0-9a-f-]{36})$/.exec(second) ?? [];
    const found = linesWith(id, 'apiserver').filter(({ status }) => status === 404);
    assert.deepEqual(
      found.map(({ path }) => path),
      ['/api/v1/namespaces/default/pods/nope'],
    );
    assert.equal((await ctl(['get', 'pod', 'nope'])).err, `${first}\n`);
  });
});
