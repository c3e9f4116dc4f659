/** Runs the credential plugin of a user of the kubeconfig, such as `aws eks get-token`. */
import { spawnSync } from 'node:child_process';
import {
  type PluginCluster,
  type PluginCredentials,
  pluginCall,
  pluginCredentials,
} from '../../client/exec-credential.ts';

/** Maximum size of the output of a plugin, in bytes. */
const maxOutput = 1024 * 1024;

/**
 * Returns the credentials; the plugin writes to this command's standard error, and reads its standard input
 * if that is a terminal. Throws an Error if it fails.
 */
export function runCredentialPlugin(
  exec: unknown,
  user: string,
  cluster: PluginCluster,
  env: Readonly<Record<string, string | undefined>>,
): PluginCredentials {
  const call = pluginCall(exec, user, cluster, process.stdin.isTTY);
  const { status, signal, stdout, error } = spawnSync(call.command, [...call.args], {
    env: { ...env, ...call.env },
    stdio: [call.interactive ? 'inherit' : 'ignore', 'pipe', 'inherit'],
    maxBuffer: maxOutput,
    encoding: 'utf8',
  });
  if (error) throw new Error(notRun(call.command, call.installHint, error));
  if (status === 0) return pluginCredentials(stdout, call);
  const how = status === null ? `was ended by ${signal}` : `failed with exit code ${status}`;
  throw new Error(`getting credentials: exec: executable ${call.command} ${how}`);
}

function notRun(command: string, hint: string, { code, message }: NodeJS.ErrnoException): string {
  const what = code === 'ENOBUFS' ? 'printed more than 1 MiB' : message;
  const why = code === 'ENOENT' ? `not found${hint && `; to install it: ${hint}`}` : what;
  return `getting credentials: exec: executable ${command} ${why}`;
}
