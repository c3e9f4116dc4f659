/** `ctl port-forward`: forwards ports of this machine to a pod. */
import { isIP } from 'node:net';
import { aborted } from '../../base/abort.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { FlagTable } from '../flags/flags.ts';
import { targetPath } from '../objects/object-target.ts';
import { textAt } from '../objects/objects.ts';
import { findPod, runningTimeoutFlag } from '../objects/pods.ts';
import { Forwarder, portForwardProtocol } from '../streaming/forwarder.ts';
import { listenAll } from '../streaming/listeners.ts';
import { type ForwardedPort, hostPort, planAddresses, planPorts } from '../streaming/port-forward-plan.ts';
import { openByteStream } from '../streaming/websocket.ts';
import type { Verb, VerbContext } from '../verb.ts';

const flagTable = {
  address: {
    type: 'string',
    hint: 'ADDRESS,…',
    about: 'addresses to listen on: IP addresses or localhost',
    usual: 'localhost',
  },
  ...runningTimeoutFlag,
} as const satisfies FlagTable;

export const portForward: Verb = {
  about: 'forward ports of this machine to a pod, until Ctrl-C',
  group: 'Troubleshooting and Debugging Commands',
  words: '(POD | TYPE/NAME) [LOCAL:]REMOTE...',
  flags: flagTable,
  examples: [
    'ctl port-forward web 8080:80 # connect port 8080 of this machine with port 80 of the pod',
    'ctl port-forward service/web 8080:80 # choose a pod of a Service',
    'ctl port-forward --address 0.0.0.0 deployment/web :80 # listen on all addresses, on a free port',
  ],
  untilInterrupted: true,
  async run(context) {
    const { flags, io, cluster } = context;
    const [word, ...specs] = flags.words;
    if (word === undefined || specs.length === 0)
      throw new UsageError('ctl port-forward: TYPE/NAME and list of ports are required for port-forward');
    const groups = planAddresses(
      flags.texts('address').flatMap((list) => list.split(',')),
      (text) => isIP(text) !== 0,
    );
    const pod = await findPod(context, word);
    const isService = pod.of.target.resource.plural === 'services';
    const ports = planPorts(specs, pod.object, isService ? pod.of.object : undefined);
    const phase = textAt(pod.object, 'status', 'phase');
    if (phase !== 'Running')
      throw new Error(`unable to forward port because pod is not running. Current status=${phase}`);
    const dialing = await cluster().dial(targetPath(pod.target, 'portforward'));
    const { clock, signal } = io;
    const transport = await openByteStream({ dialing, protocol: portForwardProtocol, clock, signal });
    await forwardAll(context, new Forwarder(transport), ports, groups);
  },
};

async function forwardAll(
  { io, report }: VerbContext,
  forwarder: Forwarder,
  ports: readonly ForwardedPort[],
  addresses: readonly (readonly string[])[],
): Promise<void> {
  const { open, failures } = await listenAll({
    ports,
    addresses,
    onOpen: (address, { local, remote }) =>
      io.out(`Forwarding from ${hostPort(address, local)} -> ${remote}\n`),
    onConnection: (socket, port) => {
      io.out(`Handling connection for ${port.local}\n`);
      forwarder.forward(socket, port).catch((error) => {
        if (io.signal.aborted) return;
        // The command ends on this error, as in kubectl: a supervisor can restart it, and it then picks a
        // running pod.
        report(error);
        forwarder.close();
      });
    },
  });
  try {
    for (const failure of failures) io.err(`${failure}\n`);
    if (open.length === 0) {
      const all = ports.map(({ local, remote }) => `{${local} ${remote}}`).join(' ');
      throw new Error(`unable to listen on any of the requested ports: [${all}]`);
    }
    await Promise.race([forwarder.lost, aborted(io.signal)]);
    if (!io.signal.aborted) throw new Error('lost connection to pod');
  } finally {
    for (const server of open) server.close();
    forwarder.close();
  }
}
