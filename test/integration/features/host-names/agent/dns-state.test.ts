/**
 * States that a node reports for Dns objects that it cannot serve; the engine and the port behave as a test
 * sets them.
 */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { serviceResource } from '../../../../../src/api/core/v1/service/service.ts';
import { Wake } from '../../../../../src/base/keep-doing.ts';
import { silentLogger } from '../../../../../src/base/log.ts';
import { call } from '../../../../../src/docker/call.ts';
import { createDnsRouting } from '../../../../../src/features/host-names/agent/dns-routing.ts';
import { dnsResource } from '../../../../../src/features/host-names/api/dns.ts';
import type { DnsServed } from '../../../../../src/features/host-names/api/dns-served.ts';
import type { Engine } from '../../../../../src/web-server/engine.ts';
import { Nginx } from '../../../../../src/web-server/nginx.ts';
import { runWebServer } from '../../../../../src/web-server/web-server.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { ScriptedInformers } from '../../../../fixtures/scripted-informers.ts';
import { makeDns } from '../../../../unit/features/host-names/agent/objects.ts';
import { eventually } from '../../../kubelet/node-harness.ts';

describe('a node that serves Dns objects', () => {
  let directory: string;
  const stop = { signal: new AbortController(), ended: Promise.resolve() };

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'minik8s-dns-state-'));
    stop.signal = new AbortController();
  });
  afterEach(async () => {
    stop.signal.abort();
    await stop.ended;
    await rm(directory, { recursive: true, force: true });
  });

  function start(problems: { port?: string; image?: string }) {
    const informers = new ScriptedInformers();
    const clock = new FakeClock();
    const states: DnsServed[] = [];
    const events: string[] = [];
    const engine: Engine = {
      inspect: async () => undefined,
      start: async () => {
        // An error as dockerode throws it.
        const failed = Object.assign(new Error(`(HTTP code 404) unexpected - ${problems.image} `), {
          statusCode: 404,
          json: { message: problems.image },
        });
        if (problems.image) await call('pull nginx:alpine', () => Promise.reject(failed), 'PullFailed');
      },
      exec: async () => ({ code: 1, output: '[emerg] unknown directive' }),
      remove: async () => {},
      logs: async () => '[emerg] bind() failed',
    };
    const wake = new Wake();
    const routing = createDnsRouting({
      informers,
      services: informers.informerFor(serviceResource),
      events: { event: (_about, _type, reason, message) => void events.push(`${reason} ${message}`) },
      wake,
      log: silentLogger,
      hosts: { path: join(directory, 'hosts'), owner: 'test', address: '192.0.2.1' },
      writesHosts: true,
      nodeName: 'n1',
      clusterDomain: 'cluster.local',
      onState: (state) => void states.push(state),
    });
    // Nothing listens on the port, so nothing confirms that it has loaded the configuration.
    const ports = { http: 1, https: undefined };
    const nginx = new Nginx({
      engine,
      clock,
      container: 'c',
      image: 'nginx:alpine',
      directory,
      mountPoint: '/minik8s',
      temporary: '/tmp',
      ports,
      portProblem: async () => problems.port,
      makeCertificate: async () => '',
    });
    stop.ended = runWebServer({ clock, nginx, wake, ports, fronts: [routing.front] }, stop.signal.signal);
    return { informers, clock, states, events };
  }
  const last = (states: readonly DnsServed[], expected: DnsServed) =>
    eventually(async () => assert.deepEqual(states.at(-1), expected));

  it('reports a failure, and later that it is over', async () => {
    const problems: { port?: string; image?: string } = { port: 'is taken by another process' };
    const { informers, clock, states, events } = start(problems);
    await last(states, { reason: 'NothingToServe', message: 'there is no Dns object' });
    informers.put(dnsResource, makeDns('one', 'a.example', ['/=web:80']));
    await last(states, {
      reason: 'PortTaken',
      message: 'port 1 of this node is taken by another process; free it: the node serves hosts on it',
    });
    delete problems.port;
    problems.image = 'pull access denied';
    await eventually(async () => {
      await clock.advance(500);
      assert.deepEqual(states.at(-1), {
        reason: 'WebServerNotStarted',
        message:
          'Docker cannot pull nginx:alpine: pull access denied; load the image into Docker on this node, or start ' +
          'the node with another --nginx-image',
      });
    });
    delete problems.image;
    await eventually(async () => {
      await clock.advance(1000);
      assert.deepEqual(states.at(-1), {
        reason: 'ConfigurationRefused',
        message: 'nginx does not apply its configuration: [emerg] bind() failed',
      });
    });
    assert.match(await readFile(join(directory, 'hosts'), 'utf8'), /a\.example/);
    informers.remove(dnsResource, 'shop/one');
    await eventually(async () => {
      await clock.advance(1000);
      assert.equal(states.at(-1)?.reason, 'NothingToServe');
    });
    assert.equal(events.length, 3, events.join('\n'));
  });
});
