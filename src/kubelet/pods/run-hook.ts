/** Does what a hook asks for, once (pkg/kubelet/lifecycle handlers). */
import type { LifecycleHandler } from '../../api/core/v1/types.gen.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import { execHandler } from '../probes/handlers/exec.ts';
import { getHttp } from '../probes/handlers/http-get.ts';
import { httpRequest } from '../probes/plan/http-request.ts';
import type { ContainerRuntime } from '../runtime/runtime.ts';
import type { RunHook } from './plan/hooks.ts';

export interface HandlerContext {
  readonly runtime: Pick<ContainerRuntime, 'exec'>;
  readonly clock: Clock;
  /** Of the pod; of the node for one in the host's network. */
  readonly podIP: string;
  /** A server that was asked in the clear after it had answered so. */
  onFallback(address: string): void;
}

/** Why a hook failed. */
export class HookError extends Error {
  override readonly name = 'HookError';
  /** What kind of hook it was, and what it asked for, as Kubernetes words it. */
  readonly what: string;
  /** What it printed. */
  readonly output: string | undefined;

  constructor(what: string, message: string, output?: string) {
    super(message);
    this.what = what;
    this.output = output;
  }
}

/** The engine went away under it: it says nothing about the hook, which has to be run again. */
export class HookLost extends Error {
  override readonly name = 'HookLost';
}

/** Takes as long as it takes, or until the signal aborts. Throws HookError or HookLost. */
export async function runHook(context: HandlerContext, run: RunHook, signal: AbortSignal): Promise<void> {
  const { exec, httpGet, sleep: pause } = run.handler;
  if (exec) return runProgram(context, run.id, exec.command ?? [], signal);
  if (httpGet) return askServer(context, run, httpGet, signal);
  if (!pause) throw new HookError('Cannot run handler', 'invalid handler');
  await sleep(context.clock, pause.seconds * 1000, signal);
}

async function runProgram(
  context: HandlerContext,
  id: string,
  command: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const outcome = await execHandler(context, id, command, undefined, signal);
  const { result, output, exitCode, isLost } = outcome;
  if (result === 'success') return;
  if (isLost) throw new HookLost(output);
  const what = `Exec lifecycle hook ([${command.join(' ')}])`;
  const why = exitCode === undefined ? output : `command '${command.join(' ')}' exited with ${exitCode}`;
  throw new HookError(what, why, exitCode === undefined ? '' : output);
}

type HttpGet = NonNullable<LifecycleHandler['httpGet']>;

/** Whatever the answer is, it is one. */
async function askServer(
  { clock, podIP, onFallback }: HandlerContext,
  { ports }: RunHook,
  action: HttpGet,
  signal: AbortSignal,
): Promise<void> {
  const ask = (one: HttpGet) =>
    getHttp(clock, httpRequest(one, { ports: [...ports] }, podIP, 'lifecycle'), undefined, signal);
  try {
    await ask(action).catch(async (error: Error) => {
      if (action.scheme !== 'HTTPS' || !error.message.includes(answeredInTheClear)) throw error;
      await ask(inTheClear(action));
      onFallback(`${action.host || podIP}:${action.port}`);
    });
  } catch (error) {
    throw new HookError(`HTTP lifecycle hook (${action.path ?? ''})`, (error as Error).message);
  }
}

const answeredInTheClear = 'server gave HTTP response to HTTPS client';

/** Without what was meant for nobody else's eyes. */
const inTheClear = ({ httpHeaders = [], ...action }: HttpGet): HttpGet => ({
  ...action,
  scheme: 'HTTP',
  httpHeaders: httpHeaders.filter(({ name }) => name.toLowerCase() !== 'authorization'),
});
