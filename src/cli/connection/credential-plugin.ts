/** Runs the credential plugin of a user of the kubeconfig, such as `aws eks get-token`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type PluginCall, type PluginCredentials, pluginCredentials } from '../../client/exec-credential.ts';

/** Maximum size of the output of a plugin, in bytes. */
const maxOutput = 1024 * 1024;

/**
 * Resolves to the credentials; the plugin writes to this command's standard error, and reads its standard
 * input if that is a terminal. Rejects with an Error if it fails, and when `signal` aborts, which ends it.
 */
export async function runCredentialPlugin(
  call: PluginCall,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<PluginCredentials> {
  const child = spawn(call.command, [...call.args], {
    env: { ...env, ...call.env },
    stdio: [call.interactive ? 'inherit' : 'ignore', 'pipe', 'inherit'],
    signal,
  });
  const parts: Buffer[] = [];
  let length = 0;
  child.stdout.on('data', (part: Buffer) => {
    parts.push(part);
    length += part.length;
    if (length <= maxOutput) return;
    // A program that the plugin has started outlives it, and ends when nobody reads its output.
    child.stdout.destroy();
    child.kill('SIGKILL');
  });
  const [status, by] = (await once(child, 'close').catch((error) => {
    throw signal.aborted ? signal.reason : new Error(notRun(call, error));
  })) as [number | null, NodeJS.Signals | null];
  const what = `getting credentials: exec: executable ${call.command}`;
  if (length > maxOutput) throw new Error(`${what} printed more than 1 MiB`);
  if (status === 0) return pluginCredentials(Buffer.concat(parts).toString(), call);
  throw new Error(`${what} ${status === null ? `was ended by ${by}` : `failed with exit code ${status}`}`);
}

function notRun(
  { command, installHint: hint }: PluginCall,
  { code, message }: NodeJS.ErrnoException,
): string {
  const why = code === 'ENOENT' ? `not found${hint && `; to install it: ${hint}`}` : message;
  return `getting credentials: exec: executable ${command} ${why}`;
}
