/** Entries of a kubeconfig as `config set-cluster`, `set-credentials` and `set-context` change them. */
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import type { JsonObject } from '../../apimachinery/equality.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { Flags } from '../flags/flags.ts';
import { recordAt, recordsAt, textAt } from '../objects/objects.ts';
import { withField } from './properties.ts';

/** Returns the bytes of a file that a flag names; throws UsageError if it cannot be read. */
export type ReadFile = (path: string) => Uint8Array;

type Fields = Readonly<Record<string, unknown>>;

const withFields = (entry: JsonObject, fields: Fields): JsonObject =>
  Object.entries(fields).reduce((made, [field, value]) => withField(made, field, value), entry);

/** Returns a cluster with the flags applied. Throws UsageError for flags that exclude each other. */
export function changedCluster(before: JsonObject, flags: Flags, read: ReadFile): JsonObject {
  const ca = flags.text('certificate-authority');
  const insecure = flags.on('insecure-skip-tls-verify');
  if (insecure && ca)
    throw new UsageError('you cannot specify a certificate authority and insecure mode at the same time');
  if (flags.on('embed-certs') && !ca)
    throw new UsageError('you must specify a --certificate-authority to embed');
  return withFields(before, {
    // The TLS server name belongs to the previous server.
    ...(flags.given('server') && { server: flags.text('server'), 'tls-server-name': '' }),
    ...given(flags, { 'tls-server-name': 'tls-server-name', 'proxy-url': 'proxy-url' }),
    ...(flags.given('insecure-skip-tls-verify') && { 'insecure-skip-tls-verify': insecure }),
    ...(insecure && { 'certificate-authority': '', 'certificate-authority-data': '' }),
    ...(ca && { 'insecure-skip-tls-verify': false }),
    ...fileFields(flags, 'certificate-authority', read),
  });
}

/** Returns the fields of a file's path or contents; empty if the flag is not given. */
function fileFields(flags: Flags, flag: string, read: ReadFile): Fields {
  const path = flags.text(flag);
  if (path === undefined) return {};
  if (path === '') return { [flag]: '' };
  if (!flags.on('embed-certs')) return { [flag]: resolve(path), [`${flag}-data`]: '' };
  return { [flag]: '', [`${flag}-data`]: Buffer.from(read(path)).toString('base64') };
}

/** Returns the values of the flags that are given, by the names of their fields. */
const given = (flags: Flags, fieldByFlag: Readonly<Record<string, string>>): Fields =>
  Object.fromEntries(
    Object.entries(fieldByFlag)
      .filter(([flag]) => flags.given(flag))
      .map(([flag, field]) => [field, flags.text(flag)]),
  );

/** Returns a user with the flags applied. Throws UsageError for flags that exclude each other. */
export function changedUser(before: JsonObject, flags: Flags, read: ReadFile): JsonObject {
  const basic = Boolean(flags.text('username') || flags.text('password'));
  const token = Boolean(flags.text('token'));
  if (token && basic)
    throw new UsageError(
      'you cannot specify more than one authentication method at the same time: --token, --username/--password',
    );
  if (flags.on('embed-certs') && !flags.text('client-certificate') && !flags.text('client-key'))
    throw new UsageError('you must specify a --client-certificate or --client-key to embed');
  const plain = withFields(before, {
    ...fileFields(flags, 'client-certificate', read),
    ...fileFields(flags, 'client-key', read),
    // A token replaces a password, and a password a token.
    ...(token && { username: '', password: '' }),
    ...(basic && { token: '' }),
    ...given(flags, { token: 'token', username: 'username', password: 'password' }),
  });
  const provider = changedProvider(plain['auth-provider'], flags);
  const exec = changedExec(plain.exec, flags);
  return { ...plain, ...(provider && { 'auth-provider': provider }), ...(exec && { exec }) };
}

/** Returns the provider with the flags applied; undefined if the user has none. */
function changedProvider(before: unknown, flags: Flags): JsonObject | undefined {
  const { set, removed } = pairs(flags, 'auth-provider-arg', (text) => text.split(','));
  const name = flags.text('auth-provider');
  const kept = before !== undefined && (name === undefined || textAt(before, 'name') === name);
  if (!kept && name === undefined) return undefined;
  const provider = kept ? (before as JsonObject) : { name };
  const config = { ...recordAt(provider, 'config'), ...set };
  for (const key of removed) delete config[key];
  return { ...provider, config };
}

const interactiveModes = ['IfAvailable', 'Always', 'Never'];

/** Returns the credential plugin with the flags applied; undefined if the user has none. */
function changedExec(before: unknown, flags: Flags): JsonObject | undefined {
  const mode = flags.text('exec-interactive-mode');
  if (mode !== undefined && !interactiveModes.includes(mode))
    throw new UsageError('invalid interactive mode type, can be only IfAvailable, Never, Always');
  const command = flags.text('exec-command');
  if (before === undefined && command === undefined) return undefined;
  const plugin = withFields(recordAt({ before }, 'before'), {
    ...given(flags, { 'exec-api-version': 'apiVersion', 'exec-interactive-mode': 'interactiveMode' }),
  });
  const informs = flags.given('exec-provide-cluster-info')
    ? flags.on('exec-provide-cluster-info')
    : plugin.provideClusterInfo === true;
  return {
    ...plugin,
    command: command ?? textAt(plugin, 'command'),
    args: execArguments(plugin, flags),
    env: execVariables(plugin, flags),
    provideClusterInfo: informs,
  };
}

/** Returns the arguments of the plugin; --exec-command without --exec-arg removes them. */
function execArguments(plugin: JsonObject, flags: Flags): unknown {
  const args = flags.texts('exec-arg').flatMap((text) => text.split(','));
  if (args.length > 0) return args;
  return flags.given('exec-command') ? null : (plugin.args ?? null);
}

function execVariables(plugin: JsonObject, flags: Flags): unknown {
  const { set, removed } = pairs(flags, 'exec-env', (text) => [text]);
  const kept = recordsAt(plugin, 'env').filter((one) => !removed.includes(textAt(one, 'name')));
  const changed = kept.map((one) => ({ ...one, value: set[textAt(one, 'name')] ?? one.value }));
  const added = Object.entries(set)
    .filter(([name]) => !kept.some((one) => textAt(one, 'name') === name))
    .map(([name, value]) => ({ name, value }));
  const all = [...changed, ...added];
  return all.length > 0 || removed.length > 0 ? all : null;
}

/**
 * Returns the pairs `KEY=VALUE` of a flag that is repeated, and the keys to remove, which are written with a
 * dash at the end.
 */
function pairs(flags: Flags, flag: string, split: (text: string) => string[]) {
  const set: Record<string, string> = {};
  const removed: string[] = [];
  for (const text of flags.texts(flag).flatMap(split)) {
    const at = text.indexOf('=');
    if (at > 0) set[text.slice(0, at)] = text.slice(at + 1);
    else if (at < 0 && text.length > 1 && text.endsWith('-')) removed.push(text.slice(0, -1));
    else throw new UsageError(`--${flag}: expected KEY=VALUE or KEY-, got ${JSON.stringify(text)}`);
  }
  return { set, removed };
}

/** Returns a context with the flags applied. */
export const changedContext = (before: JsonObject, flags: Flags): JsonObject =>
  withFields(before, given(flags, { cluster: 'cluster', user: 'user', namespace: 'namespace' }));

/** Fields that are paths of files. */
export const pathFields = {
  clusters: ['certificate-authority'],
  users: ['client-certificate', 'client-key'],
} as const;

/**
 * Returns the entry with paths relative to the kubeconfig `file`, where they are below its folder: the folder
 * can be moved then.
 */
export function withRelativePaths(entry: JsonObject, fields: readonly string[], file: string): JsonObject {
  const folder = dirname(resolve(file));
  const relativePath = (path: string) => {
    const from = relative(folder, resolve(folder, path));
    const below = from !== '' && from !== '..' && !from.startsWith('../') && !isAbsolute(from);
    return below ? from : resolve(folder, path);
  };
  const paths = fields.filter((field) => textAt(entry, field) !== '');
  const changed = paths.map((field) => [field, relativePath(textAt(entry, field))]);
  return { ...entry, ...Object.fromEntries(changed) };
}
