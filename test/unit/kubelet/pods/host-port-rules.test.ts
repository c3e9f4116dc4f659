/** Times at which ports of the machine are forwarded to a pod. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import { HostPortRules } from '../../../../src/kubelet/pods/host-port-rules.ts';
import { RecordingLogger } from '../../../fixtures/recording-logger.ts';
import { makePod } from '../builders.ts';

const pod = (ports: readonly { containerPort: number; hostPort: number }[], podIP = '10.244.0.2') =>
  makePod({ containers: [{ name: 'main', image: 'app:1', ports }] }, {}, { phase: 'Running', podIP });

const serving = pod([{ containerPort: 80, hostPort: 8080 }]);

/** Rules whose writes succeed or fail when the test decides it. */
function world(pods: readonly Pod[]) {
  const writes: (PromiseWithResolvers<void> & { readonly ports: number })[] = [];
  const log = new RecordingLogger();
  const network = {
    setHostPorts(ports: readonly unknown[]) {
      const write = { ...Promise.withResolvers<void>(), ports: ports.length };
      writes.push(write);
      return write.promise;
    },
  };
  return { writes, log, rules: new HostPortRules({ network, log, pods: () => pods }) };
}

test('a pod waits until its ports lead to it', async () => {
  const { rules, writes } = world([serving]);
  rules.sync();
  let leads = false;
  const leading = rules.leadTo(serving).then(() => {
    leads = true;
  });
  await turn();
  assert.deepEqual([leads, writes.map(({ ports }) => ports)], [false, [1]]);
  writes[0]?.resolve();
  await leading;
});

test('a pod without host ports waits for nothing', async () => {
  const { rules, writes } = world([serving]);
  rules.sync();
  await rules.leadTo(pod([]));
  assert.equal(writes.length, 1);
});

test('a failed write is logged and retried', async () => {
  const { rules, writes, log } = world([serving]);
  const first = rules.leadTo(serving);
  writes[0]?.reject(new Error('no nft'));
  await assert.rejects(first, /no nft/);
  assert.deepEqual(log.of('error')[0]?.fields, { error: 'no nft' });
  const second = rules.leadTo(serving);
  writes[1]?.resolve();
  await second;
  rules.sync();
  assert.equal(writes.length, 2, 'unchanged rules are not written again');
});

test('the rules of an earlier agent are removed, although no pod has a host port', () => {
  const { rules, writes } = world([]);
  rules.sync();
  assert.deepEqual(
    writes.map(({ ports }) => ports),
    [0],
  );
});
