/**
 * The call of a credential plugin, and its answer: a program gets an ExecCredential in its environment, and
 * prints one with a token or a certificate (client.authentication.k8s.io). Pure.
 */
import { UsageError } from '../base/usage-error.ts';

/** A call of a credential plugin. */
export interface PluginCall {
  readonly command: string;
  readonly args: readonly string[];
  /** Variables that the plugin gets in addition to those of the client. */
  readonly env: Readonly<Record<string, string>>;
  readonly interactive: boolean;
  /** How the plugin is installed; empty if the kubeconfig does not say. */
  readonly installHint: string;
  readonly apiVersion: string;
}

/** The cluster for which credentials are wanted. */
export interface PluginCluster {
  readonly server: string;
  readonly 'certificate-authority-data'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly 'tls-server-name'?: string;
  readonly 'proxy-url'?: string;
  /** Configuration of the plugin that the cluster's entry has as an extension. */
  readonly config?: unknown;
}

/** Name of the extension of a cluster that is passed to plugins. */
export const pluginExtension = 'client.authentication.k8s.io/exec';

export interface PluginCredentials {
  /** Time in milliseconds since 1970 after which they are not valid; absent if the plugin does not say. */
  readonly expires?: number;
  readonly token?: string;
  /** PEM. */
  readonly cert?: string;
  readonly key?: string;
}

const versions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Returns the call for the field `exec` of a user. `hasTerminal` is true if the plugin could ask questions.
 * Throws UsageError for a field that is wrong.
 */
export function pluginCall(
  exec: unknown,
  user: string,
  cluster: PluginCluster,
  hasTerminal: boolean,
): PluginCall {
  const where = `kubeconfig: user ${user}: exec`;
  if (!isFields(exec)) throw new UsageError(`${where} is not a mapping`);
  const { command, args, env, apiVersion, installHint, provideClusterInfo } = exec;
  if (typeof command !== 'string' || command === '')
    throw new UsageError(`${where}.command must be specified`);
  if (typeof apiVersion !== 'string' || !versions.includes(apiVersion))
    throw new UsageError(`${where}.apiVersion must be ${versions.join(' or ')}`);
  const interactive = isInteractive(exec, where, hasTerminal);
  const info = {
    kind: 'ExecCredential',
    apiVersion,
    spec: { ...(provideClusterInfo === true && { cluster }), interactive },
  };
  return {
    command,
    args: textsOf(args, `${where}.args`),
    env: { ...variablesOf(env, `${where}.env`), KUBERNETES_EXEC_INFO: JSON.stringify(info) },
    interactive,
    installHint: typeof installHint === 'string' ? installHint.trim() : '',
    apiVersion,
  };
}

function isInteractive(
  { apiVersion, interactiveMode }: Fields,
  where: string,
  hasTerminal: boolean,
): boolean {
  const mode = interactiveMode ?? (apiVersion === versions[1] ? 'IfAvailable' : undefined);
  if (mode === 'Never') return false;
  if (mode === 'IfAvailable') return hasTerminal;
  if (mode !== 'Always')
    throw new UsageError(`${where}.interactiveMode must be Never, IfAvailable or Always`);
  if (!hasTerminal)
    throw new UsageError(`${where}: the plugin asks questions, and standard input is no terminal`);
  return true;
}

function textsOf(value: unknown, where: string): readonly string[] {
  const list = value ?? [];
  if (Array.isArray(list) && list.every((text) => typeof text === 'string')) return list;
  throw new UsageError(`${where} must be a list of texts`);
}

function variablesOf(value: unknown, where: string): Readonly<Record<string, string>> {
  const list: unknown = value ?? [];
  const isVariable = (one: unknown): one is { readonly name: string; readonly value: string } =>
    isFields(one) && typeof one.name === 'string' && typeof one.value === 'string';
  if (!Array.isArray(list) || !list.every(isVariable))
    throw new UsageError(`${where} must be a list of variables, each with a name and a value`);
  return Object.fromEntries(list.map((one) => [one.name, one.value]));
}

/**
 * Returns the credentials that a plugin has printed. Throws an Error, which contains nothing of the output,
 * if there are none.
 */
export function pluginCredentials(output: string, { command, apiVersion }: PluginCall): PluginCredentials {
  const wrong = (what: string) => new Error(`getting credentials: exec plugin ${command} ${what}`);
  const printed = parsed(output);
  if (!isFields(printed) || printed.kind !== 'ExecCredential')
    throw wrong('printed something else than an ExecCredential in JSON');
  if (printed.apiVersion !== apiVersion)
    throw wrong(`is configured to use the API version ${apiVersion}, and printed another one`);
  const {
    token,
    clientCertificateData: cert,
    clientKeyData: key,
    expirationTimestamp,
  } = isFields(printed.status) ? printed.status : {};
  const [hasToken, hasCert, hasKey] = [token, cert, key].map(
    (text) => typeof text === 'string' && text !== '',
  );
  if (!hasToken && !hasCert && !hasKey) throw wrong('did not return a token or a certificate with its key');
  if (hasCert !== hasKey) throw wrong('returned only one of a certificate and its key');
  return {
    ...expiryOf(expirationTimestamp, wrong),
    ...(hasToken && { token: token as string }),
    ...(hasCert && { cert: cert as string, key: key as string }),
  };
}

/** Returns the field `expires` for the text of a time; throws the error of `wrong` for another text. */
function expiryOf(time: unknown, wrong: (what: string) => Error): Pick<PluginCredentials, 'expires'> {
  if (typeof time !== 'string') return {};
  const expires = Date.parse(time);
  if (Number.isNaN(expires)) throw wrong('returned an expirationTimestamp that is not a time');
  return { expires };
}

function parsed(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    return undefined;
  }
}
