/** Agents that hang or send without end cost a support bundle only their own pages. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { supportBundleCommand } from '../../../src/roles/support-bundle.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { runRoleCommand } from '../../fixtures/role-command.ts';

const nodes = ['endless', 'hanging', 'hanging-too', 'well'];
const chunk = Buffer.from(`${'x'.repeat(65_535)}\n`);

describe('a support bundle of a cluster with agents that misbehave', { timeout: 240_000 }, () => {
  let server: HttpsTestServer;
  let text = '';
  let missing = '';
  let sent = 0;
  const agents = new Map<string, Server>();

  const agentOf = (node: string): Server => {
    const agent = createServer(({ url }, answer) => {
      if (node === 'well') answer.end(`here_is{path="${url}"} 1\n`);
      if (node === 'endless') Readable.from(chunks()).pipe(answer);
    });
    agents.set(node, agent);
    return agent;
  };
  /** Yields a finite number of chunks; a bundle with all of them would be far too large. */
  function* chunks() {
    for (; sent < 400 * 2 ** 20; sent += chunk.length) yield chunk;
  }

  before(async () => {
    for (const node of nodes) await once(agentOf(node).listen(0, '127.0.0.1'), 'listening');
    const dial = async (node: string) => {
      const address = agents.get(node)?.address() as AddressInfo;
      return connect({ host: '127.0.0.1', port: address.port });
    };
    const call = () => Promise.reject(new Error('is not asked this way'));
    server = await startHttpsTestServer({ nodeConnection: Object.assign(call, { dial }) });
    for (const name of nodes) await server.call('POST', '/api/v1/nodes', { metadata: { name } });
    const kubeconfig = await server.kubeconfigFor('kubernetes-admin', ['system:masters']);
    const file = join(server.directory, 'b.tar.gz');
    const args = ['-o', file, '--data-dir', server.directory];
    const ended = await runRoleCommand('support-bundle', supportBundleCommand, kubeconfig, args);
    assert.equal(ended.status, 0, ended.err);
    missing = ended.err;
    const options = { encoding: 'utf8', maxBuffer: 2 ** 28 } as const;
    text = execFileSync('tar', ['-xzOf', file, '--wildcards', '*/metrics/nodes.txt'], options);
  });
  after(async () => {
    for (const agent of agents.values()) {
      agent.closeAllConnections();
      agent.close();
    }
    await server.stop();
  });

  it('has all pages of the agent that answers', () => {
    for (const page of ['metrics', 'metrics/cadvisor', 'metrics/resource', 'metrics/probes'])
      assert.match(text, new RegExp(`^# well: /${page}\\n`, 'm'));
    assert.equal(text.match(/^here_is/gm)?.length, 4);
  });

  it('reports that the hanging agents did not answer in time, and requests one page from each', () => {
    for (const node of ['hanging', 'hanging-too']) {
      const own = text.split('\n').filter((line) => line.startsWith(`# ${node}: `));
      assert.deepEqual(own, [`# ${node}: /metrics`]);
    }
    assert.equal(text.match(/^# Error: no answer within 5 s$/gm)?.length, 2);
    assert.doesNotMatch(missing, /nodes\.txt: not there/);
  });

  it('contains the beginning of an endless page, with a note, and stops reading', () => {
    assert.match(text, /^# only the first \d+ bytes are here$/m);
    assert.ok(sent < 200 * 2 ** 20, `${sent} bytes were read`);
  });
});
