/**
 * exec, attach, port-forward and logs of a pod: the requests to its node's agent, and the answers to the
 * client.
 */
import assert from 'node:assert/strict';
import { duplexPair } from 'node:stream';
import { after, before, beforeEach, describe, test } from 'node:test';
import { newStatusError } from '../../../../src/apimachinery/status-error.ts';
import { admin, startTestServer } from '../../../fixtures/api-server.ts';
import { Agents, type AskOptions } from './agents.ts';

const pods = '/api/v1/namespaces/default/pods';
const websocket = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': 'k' };
const leaving: AskOptions = { upgrade: websocket };

let agents: Agents;
before(async () => {
  agents = await Agents.start();
  const pod = (name: string, spec: object) =>
    agents.create(pods, { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } });
  await pod('web', { nodeName: 'n1' });
  await pod('free', {});
  await pod('two', {
    nodeName: 'n2',
    containers: [
      { name: 'a', image: 'i' },
      { name: 'b', image: 'i' },
    ],
  });
});
after(() => agents.server.stop());
beforeEach(() => {
  agents.asked.length = 0;
  agents.joined = undefined;
  agents.answer = () => new Response('said');
  agents.agree = async () => ({ headers: {}, socket: duplexPair()[0] });
});

/** Audit id under which both logs have the request. */
const id = { 'audit-id': 'mine' };

describe('the request to the agent', () => {
  for (const [what, asked] of [
    ['web/exec?command=ls&stdout=true', 'n1 /exec/default/web/c?output=1&command=ls'],
    [
      'web/exec?command=sh&command=-c&command=a+b%26c&stdin=1&stdout=1&stderr=1&tty=1',
      'n1 /exec/default/web/c?input=1&output=1&error=1&tty=1&command=sh&command=-c&command=a+b%26c',
    ],
    ['web/exec?command=ls&stdin=true&stdout=false', 'n1 /exec/default/web/c?input=1&command=ls'],
    ['web/exec?command=ls&stderr=true&tty=false', 'n1 /exec/default/web/c?error=1&command=ls'],
    ['two/exec?container=b&command=ls&stdout=1', 'n2 /exec/default/two/b?output=1&command=ls'],
    // An attach without parameters is for the container's output, and not for its input.
    ['web/attach', 'n1 /attach/default/web/c?output=1&error=1'],
    ['web/attach?stdin=true&stderr=false', 'n1 /attach/default/web/c?input=1&output=1'],
    ['two/attach?container=a', 'n2 /attach/default/two/a?output=1&error=1'],
    ['two/portforward', 'n2 /portForward/default/two?'],
    ['web/portforward?ports=80&ports=81', 'n1 /portForward/default/web?port=80&port=81'],
    ['web/log?follow=true', 'n1 /containerLogs/default/web/c?follow=true'],
    [
      'web/log?tailLines=0&limitBytes=1&sinceSeconds=1&sinceTime=',
      'n1 /containerLogs/default/web/c?sinceSeconds=1&sinceTime=&tailLines=0&limitBytes=1',
    ],
  ] as const)
    test(what, async () => {
      const socket = duplexPair()[0];
      agents.agree = async () => ({ headers: { upgrade: 'websocket' }, socket });
      const answer = await agents.ask(`${pods}/${what}`, { ...leaving, headers: id });
      assert.equal(await answer.text(), '');
      assert.equal(agents.joined?.socket, socket);
      assert.deepEqual(
        agents.asked.map(({ node, path, method, headers }) => [`${node} ${path}`, method, headers]),
        [[asked, 'GET', { ...websocket, ...id }]],
      );
    });

  test('with the method the client chose', async () => {
    await agents.ask(`${pods}/web/attach`, { ...leaving, method: 'POST' });
    assert.equal(agents.asked[0]?.method, 'POST');
  });

  for (const [query, passed] of [
    ['', ''],
    ['?container=c', ''],
    ['?pretty=true&stream=All', ''],
    [
      '?follow=1&previous=1&sinceSeconds=3&timestamps=1&tailLines=5&limitBytes=7',
      'follow=1&previous=1&sinceSeconds=3&timestamps=1&tailLines=5&limitBytes=7',
    ],
    ['?sinceTime=t', 'sinceTime=t'],
    // The agent reports an invalid value.
    ['?tailLines=', 'tailLines='],
  ] as const)
    test(`a log${query}`, async () => {
      const answer = await agents.ask(`${pods}/web/log${query}`);
      assert.equal(await answer.text(), 'said');
      assert.deepEqual(
        [answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')],
        [200, 'text/plain', 'no-cache, private'],
      );
      assert.deepEqual(
        agents.asked.map(({ node, path }) => `${node} ${path}`),
        [`n1 /containerLogs/default/web/c?${passed}`],
      );
    });

  test('a log is upgraded only to a WebSocket, in any spelling', async () => {
    for (const upgrade of ['websocket', 'WebSocket']) {
      await agents.ask(`${pods}/web/log`, { upgrade: { upgrade }, headers: id });
      assert.deepEqual(agents.asked.pop()?.headers, { upgrade, ...id });
    }
    const answer = await agents.ask(`${pods}/web/log`, { upgrade: { upgrade: 'spdy/3.1' } });
    assert.equal(await answer.text(), 'said');
  });
});

describe('a container is chosen', () => {
  const ending = { name: 'old', image: 'i' };
  before(async () => {
    await agents.create(pods, {
      metadata: { name: 'more' },
      spec: {
        nodeName: 'n1',
        containers: [{ name: 'c', image: 'i' }],
        initContainers: [ending],
      },
    });
  });

  for (const [pod, wanted, container] of [
    ['more', '', 'c'],
    ['more', 'c', 'c'],
    ['more', 'old', 'old'],
    ['two', 'b', 'b'],
  ] as const)
    test(`${wanted || 'the default'} in ${pod}`, async () => {
      await agents.ask(`${pods}/${pod}/log?container=${wanted}`);
      assert.match(agents.asked[0]?.path ?? '', new RegExp(`/${pod}/${container}\\?$`));
    });
});

describe('it is refused', () => {
  const nothing = '400 you must specify at least 1 of stdin, stdout, stderr';
  for (const [what, refusal] of [
    ['web/exec?stdout=1', '400 you must specify a command to run'],
    ['web/exec?command=ls', nothing],
    ['web/exec?command=ls&tty=1', nothing],
    ['web/attach?stdout=0&stderr=0', nothing],
    ['web/exec?command=ls&stdout=1&container=x', '400 container x is not valid for pod web'],
    ['web/log?container=x', '400 container x is not valid for pod web'],
    [
      'two/exec?command=ls&stdout=1',
      '400 a container name must be specified for pod two, choose one of: [a b]',
    ],
    ['two/log', '400 a container name must be specified for pod two, choose one of: [a b]'],
    ['free/attach', '400 pod free does not have a host assigned'],
    ['free/portforward', '400 pod free does not have a host assigned'],
    ['free/log', '400 pod free does not have a host assigned'],
    ['none/attach', '404 pods "none" not found'],
    ['none/log', '404 pods "none" not found'],
    [
      'web/log?tailLines=-1',
      '422 PodLogOptions "web" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
    ],
    [
      'web/log?limitBytes=0&sinceSeconds=0',
      '422 PodLogOptions "web" is invalid: [limitBytes: Invalid value: 0: must be greater than 0, ' +
        'sinceSeconds: Invalid value: 0: must be greater than 0]',
    ],
    [
      'web/log?sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z',
      '422 PodLogOptions "web" is invalid: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
    ],
  ] as const)
    test(`${what}: ${refusal}`, async () => {
      const options = what.includes('/log') ? {} : leaving;
      assert.equal(await agents.refusal(`${pods}/${what}`, options), refusal);
      assert.deepEqual(agents.asked, []);
    });

  for (const what of ['web/exec?command=ls&stdout=1', 'web/attach', 'web/portforward'])
    test(`${what} without an upgrade`, async () => {
      assert.equal(await agents.refusal(`${pods}/${what}`), '400 Upgrade request required');
    });

  for (const [status, text, refusal] of [
    [400, ' no such thing\n', '400 no such thing'],
    [404, 'no such pod', '404 no such pod'],
    [404, '\n', '404 pods'],
    [500, 'it broke', '500 Internal error occurred: the node agent answered 500: it broke'],
    [401, '', '500 Internal error occurred: the node agent answered 401: '],
    [400, 'x'.repeat(1001), `400 ${'x'.repeat(1000)}`],
  ] as const)
    test(`when the agent answers ${status} ${text.trim().slice(0, 20)}`, async () => {
      agents.answer = () => new Response(text, { status });
      agents.agree = async () => new Response(text, { status });
      assert.equal(await agents.refusal(`${pods}/web/log`), refusal);
      assert.equal(await agents.refusal(`${pods}/web/attach`, leaving), refusal);
      assert.equal(agents.joined, undefined);
    });

  test('when the agent is not there', async () => {
    const gone = () => Promise.reject(new Error('no route'));
    agents.answer = gone;
    agents.agree = gone;
    const refusal = '500 Internal error occurred: cannot reach the node agent of n1: no route';
    assert.equal(await agents.refusal(`${pods}/web/log`), refusal);
    assert.equal(await agents.refusal(`${pods}/web/attach`, leaving), refusal);
  });

  test('with the known reason', async () => {
    const refuse = () => Promise.reject(newStatusError('NotFound', 'nodes "n1" not found'));
    agents.answer = refuse;
    agents.agree = refuse;
    assert.equal(await agents.refusal(`${pods}/web/log`), '404 nodes "n1" not found');
    assert.equal(await agents.refusal(`${pods}/web/attach`, leaving), '404 nodes "n1" not found');
  });

  test('by a server without agents', async () => {
    const server = await startTestServer();
    const pod = {
      metadata: { name: 'web' },
      spec: { containers: [{ name: 'c', image: 'i' }], nodeName: 'n' },
    };
    await server.call('POST', pods, pod);
    const upgrade = { headers: websocket, switchTo: () => assert.fail('joined to nothing') };
    for (const what of ['log', 'attach']) {
      const request = new Request(`https://apiserver${pods}/web/${what}`);
      const answer = await server.app.fetch(request, { user: admin, ...(what === 'attach' && { upgrade }) });
      const { message } = (await answer.json()) as { message: string };
      assert.deepEqual(
        [answer.status, message],
        [503, 'this server is not connected to the node agents'],
        what,
      );
    }
    await server.stop();
  });
});

describe("the end of the agent's stream", () => {
  for (const [what, options] of [
    ['log', {}],
    ['attach', leaving],
  ] as const) {
    test(`with the client of ${what}`, async () => {
      const client = new AbortController();
      await agents.ask(`${pods}/web/${what}`, { ...options, signal: client.signal });
      assert.equal(agents.asked[0]?.signal.aborted, false);
      client.abort();
      assert.equal(agents.asked[0]?.signal.aborted, true);
    });

    test(`with the server of ${what}, and with the client still`, async () => {
      for (const ends of ['server', 'client']) {
        const [shutdown, client] = [new AbortController(), new AbortController()];
        const signals = { shutdown: shutdown.signal, signal: client.signal };
        await agents.ask(`${pods}/web/${what}`, { ...options, ...signals });
        const { signal } = agents.asked.pop() ?? assert.fail();
        assert.equal(signal.aborted, false);
        (ends === 'server' ? shutdown : client).abort();
        assert.equal(signal.aborted, true, ends);
      }
    });
  }
});
