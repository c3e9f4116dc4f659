/** `minik8s certs rotate-ca`: replaces the authority of the cluster while it works. */
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { authorityPath } from '../../api/certificates/v1/conditions.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import { createHttpsTransport } from '../../client/https-transport.ts';
import { loadKubeconfig } from '../../client/kubeconfig.ts';
import { resolveContext } from '../../client/kubeconfig-connection.ts';
import type { Transport } from '../../client/transport.ts';
import { advice, formatRotation, lateNodes, nextStep, type RotationState } from './rotate-plan.ts';

export interface RotateOptions {
  readonly dataDir: string;
  readonly action: 'rotate' | 'status' | 'finish';
  /** True if nodes that have not followed are left behind. */
  readonly force: boolean;
  readonly clock: Clock;
  readonly say: (text: string) => void;
}

/**
 * Timeout in milliseconds until all nodes have followed a step. Nodes of earlier versions read the
 * authorities only once a minute, and then request their certificates.
 */
const followTimeoutMs = 300_000;
const pollMs = 2_000;

/** Rejects with one line that says how to continue. The same command continues an interrupted rotation. */
export async function rotateAuthority(options: RotateOptions, signal: AbortSignal): Promise<void> {
  const transport = connect(options.dataDir, options.clock);
  try {
    await rotateOver(transport, options, signal);
  } finally {
    transport.close();
  }
}

/** Carries out the action over a connection to a master, which stays open. Rejects like `rotateAuthority`. */
export async function rotateOver(
  transport: Transport,
  options: Omit<RotateOptions, 'dataDir'>,
  signal: AbortSignal,
): Promise<void> {
  const { action, force, say } = options;
  const ask = (step?: string) => askServer(transport, step, force, signal);
  if (action === 'status') say(formatRotation(await ask()));
  else if (action === 'finish') say(formatRotation(await ask('finish')));
  else await rotate(ask, options, signal);
}

type Ask = (step?: string) => Promise<RotationState>;
type Waiting = Pick<RotateOptions, 'clock' | 'force' | 'say'>;

async function rotate(ask: Ask, options: Waiting, signal: AbortSignal): Promise<void> {
  // An interrupted rotation continues in its phase; some nodes may not have followed that phase yet.
  let state = await untilFollowed(await ask(), ask, options, signal);
  for (let step = nextStep(state); step !== undefined; step = nextStep(state)) {
    state = await ask(step);
    options.say(formatRotation(state));
    state = await untilFollowed(state, ask, options, signal);
  }
  options.say(formatRotation(state));
  options.say(advice);
}

/** Resolves to the state once all nodes have followed, or at once with `--force`. */
async function untilFollowed(
  first: RotationState,
  ask: Ask,
  { clock, force, say }: Waiting,
  signal: AbortSignal,
): Promise<RotationState> {
  const end = clock.now() + followTimeoutMs;
  let shown = '';
  for (let state = first; ; state = await ask()) {
    const late = lateNodes(state).join(', ');
    if (late === '' || force) return state;
    if (clock.now() > end)
      throw new Error(
        `not all nodes have followed: ${late}; start them or delete their Nodes, and run this again, or give --force to leave them behind`,
      );
    if (late !== shown) say(`waiting: ${late}\n`);
    shown = late;
    await sleep(clock, pollMs, signal);
  }
}

function connect(dataDir: string, clock: Clock): Transport {
  const path = join(dataDir, 'admin.conf');
  const config = loadKubeconfig([path]);
  if (!config) throw new Error(`there is no ${path}: run this on a master, with its --data-dir`);
  const { server, ca, cert, key } = resolveContext(config);
  return createHttpsTransport({
    ...{ server, clock },
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  });
}

async function askServer(
  transport: Transport,
  step: string | undefined,
  force: boolean,
  signal: AbortSignal,
): Promise<RotationState> {
  const query = new URLSearchParams({ ...(step !== undefined && { step }), ...(force && { force: 'true' }) });
  const response = await transport.request({
    method: step === undefined ? 'GET' : 'POST',
    path: step === undefined ? authorityPath : `${authorityPath}?${query}`,
    signal,
  });
  const body = await text(response.body);
  if (response.status === 200) return JSON.parse(body) as RotationState;
  const why = response.status === 409 ? body.trim() : `the API server answers ${response.status}`;
  throw new Error(why);
}
