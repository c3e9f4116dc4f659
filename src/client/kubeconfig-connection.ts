/**
 * The connection of a kubeconfig's context, with the overrides of the command line, and the kubeconfig of a
 * connection.
 */
import { shellWord } from '../base/shell-words.ts';
import { UsageError } from '../base/usage-error.ts';
import { type PluginCall, type PluginCluster, pluginExtension } from './exec-credential.ts';
import type { ClusterEntry, ContextEntry, Kubeconfig, UserEntry } from './kubeconfig.ts';
import { type Impersonated, impersonatedBy, readRequired, tokenOf } from './kubeconfig-user.ts';

/** All parameters of a connection, with file contents in place of paths; certificates and keys are PEM. */
export interface ResolvedContext {
  readonly context: string;
  readonly server: string;
  readonly namespace: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
  readonly insecureSkipTlsVerify?: boolean;
  readonly tlsServerName?: string;
  /** URL of the proxy that the cluster's entry names. */
  readonly proxyUrl?: string;
  /** File of which each request sends the content as its token. */
  readonly tokenFile?: string;
  readonly impersonated?: Impersonated;
  /** Call of the plugin whose credentials take the place of `cert`, `key` and `token`. */
  readonly plugin?: PluginCall;
}

/** Command line options that override the kubeconfig; files are paths. */
export interface ConnectionOverrides {
  /** Name of a cluster entry of the kubeconfig. */
  readonly cluster?: string;
  readonly user?: string;
  readonly server?: string;
  readonly certificateAuthority?: string;
  readonly insecureSkipTlsVerify?: boolean;
  readonly tlsServerName?: string;
  readonly token?: string;
  readonly clientCertificate?: string;
  readonly clientKey?: string;
  readonly proxyUrl?: string;
}

/**
 * Returns the connection of a context; default: the current context. No context is required where the
 * overrides name a server or a cluster. Throws UsageError.
 */
export function resolveContext(
  config: Kubeconfig,
  context = config.currentContext,
  overrides: ConnectionOverrides = {},
  callOf?: PluginCallOf,
): ResolvedContext {
  const entry = contextEntry(config, context, overrides);
  const cluster = overriddenCluster(clusterEntry(config, context, entry, overrides), overrides);
  const entryOfUser = userEntry(config, context, entry, overrides);
  const user = overriddenUser(entryOfUser, overrides);
  const ca = material(cluster['certificate-authority-data'], cluster['certificate-authority']);
  const name = overrides.user ?? entry.user ?? '';
  if (user['auth-provider'] || (user.exec && !callOf))
    throw new UsageError(
      `kubeconfig: user ${name} needs a plugin; only tokens and certificates are supported`,
    );
  const known = { ...cluster, ...(ca && { ca }) };
  return {
    context,
    server: cluster.server,
    namespace: entry.namespace || 'default',
    ...filled({
      ca,
      cert: material(user['client-certificate-data'], user['client-certificate']),
      key: material(user['client-key-data'], user['client-key']),
      token: tokenOf(user),
      plugin: user.exec ? callOf?.(user.exec, name, clusterOfPlugin(known)) : undefined,
      tokenFile: user.tokenFile,
      impersonated: impersonatedBy(entryOfUser),
      proxyUrl: overrides.proxyUrl ?? cluster['proxy-url'],
      insecureSkipTlsVerify: cluster['insecure-skip-tls-verify'],
      tlsServerName: cluster['tls-server-name'],
    }),
  };
}

/** Returns the fields that have a value. */
const filled = <T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value)) as Partial<T> as {
    [K in keyof T]?: NonNullable<T[K]>;
  };

/** Returns the call of the plugin of the field `exec` of a user. Throws UsageError for a wrong field. */
export type PluginCallOf = (exec: unknown, user: string, cluster: PluginCluster) => PluginCall;

type KnownCluster = ClusterEntry & { readonly server: string; readonly ca?: string };

function clusterOfPlugin(cluster: KnownCluster): PluginCluster {
  const { server, ca, extensions } = cluster;
  const list: readonly unknown[] = Array.isArray(extensions) ? extensions : [];
  const own = list.filter(isExtension).find(({ name }) => name === pluginExtension);
  const fields = ['insecure-skip-tls-verify', 'tls-server-name', 'proxy-url'] as const;
  return {
    server,
    ...(ca && { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
    ...Object.fromEntries(fields.flatMap((field) => (cluster[field] ? [[field, cluster[field]]] : []))),
    ...(own && { config: own.extension }),
  };
}

const isExtension = (value: unknown): value is { readonly name?: unknown; readonly extension?: unknown } =>
  typeof value === 'object' && value !== null;

function contextEntry(
  config: Kubeconfig,
  context: string,
  { cluster, server }: ConnectionOverrides,
): ContextEntry {
  if (!context && (server || cluster)) return {};
  const names = Object.keys(config.contexts);
  const from = fromFiles(config);
  if (names.length === 0)
    throw new UsageError(
      `kubeconfig${from}: no contexts are defined; name another file with --kubeconfig or $KUBECONFIG`,
    );
  if (!context)
    throw new UsageError(
      `kubeconfig${from}: no context is current; choose one of ${listed(names)} with --context`,
    );
  const entry = own(config.contexts, context);
  if (!entry)
    throw new UsageError(
      `kubeconfig${from}: there is no context ${JSON.stringify(context)}; contexts: ${listed(names)}`,
    );
  return entry;
}

/** Maximum number of names in an error message. */
const maxListed = 5;

const listed = (names: readonly string[]) =>
  names.length > maxListed
    ? `${names.slice(0, maxListed).join(', ')} and ${names.length - maxListed} more`
    : names.join(', ');

function clusterEntry(
  config: Kubeconfig,
  context: string,
  entry: ContextEntry,
  { cluster, server }: ConnectionOverrides,
): ClusterEntry {
  const name = cluster ?? entry.cluster;
  const found = own(config.clusters, name);
  if (!found && cluster !== undefined)
    throw unknownName(config, `there is no cluster ${JSON.stringify(cluster)}`, 'clusters');
  if (found?.server || server) return found ?? {};
  if (found && name)
    throw new UsageError(
      `kubeconfig${fromFiles(config)}: cluster ${JSON.stringify(name)} has no server; ` +
        `set it with minik8s ctl config set-cluster ${shellWord(name)} --server=https://HOST:PORT`,
    );
  const named = name ? `names an unknown cluster ${name}` : 'names no cluster';
  throw unknownName(config, `context ${JSON.stringify(context)} ${named}`, 'clusters');
}

function userEntry(
  config: Kubeconfig,
  context: string,
  entry: ContextEntry,
  { user }: ConnectionOverrides,
): UserEntry {
  const name = user ?? entry.user;
  const found = name ? own(config.users, name) : {};
  if (found) return found;
  const what =
    user === undefined
      ? `context ${JSON.stringify(context)} names an unknown user ${name}`
      : `there is no user ${JSON.stringify(user)}`;
  throw unknownName(config, what, 'users');
}

/** Returns the error about a name that the kubeconfig lacks, with the names that it has. */
function unknownName(config: Kubeconfig, what: string, kind: 'clusters' | 'users'): UsageError {
  const names = listed(Object.keys(config[kind])) || 'none';
  return new UsageError(`kubeconfig${fromFiles(config)}: ${what}; ${kind}: ${names}`);
}

/** Returns the names of the files that were read, with a space in front. */
const fromFiles = ({ files }: Kubeconfig): string => (files ? ` ${files.join(', ')}` : '');

/**
 * Applies overrides to a cluster. A CA option, or skipping verification, replaces both CA fields; another
 * server drops the entry's TLS server name.
 */
function overriddenCluster(
  entry: ClusterEntry,
  { certificateAuthority, insecureSkipTlsVerify, server, tlsServerName }: ConnectionOverrides,
): ClusterEntry & { readonly server: string } {
  if (certificateAuthority !== undefined && insecureSkipTlsVerify)
    throw new UsageError('--insecure-skip-tls-verify verifies nothing: leave --certificate-authority out');
  const {
    'certificate-authority': _file,
    'certificate-authority-data': _data,
    'insecure-skip-tls-verify': _skip,
    ...unverified
  } = entry;
  const { 'tls-server-name': name, ...rest } =
    certificateAuthority !== undefined || insecureSkipTlsVerify ? unverified : entry;
  const checked = tlsServerName ?? (server === undefined ? name : undefined);
  return {
    ...rest,
    server: server ?? entry.server ?? '',
    ...(certificateAuthority !== undefined && { 'certificate-authority': certificateAuthority }),
    ...(insecureSkipTlsVerify && { 'insecure-skip-tls-verify': true }),
    ...(checked !== undefined && { 'tls-server-name': checked }),
  };
}

/**
 * Applies overrides to a user. A token or a certificate option drops the entry's credentials of other kinds,
 * since servers prefer certificates.
 */
function overriddenUser(
  entry: UserEntry,
  { clientCertificate, clientKey, token }: ConnectionOverrides,
): UserEntry {
  if (token === undefined && clientCertificate === undefined && clientKey === undefined) return entry;
  const { 'client-key': keyFile, 'client-key-data': keyData } = entry;
  const key =
    clientKey === undefined
      ? { 'client-key': keyFile, 'client-key-data': keyData }
      : { 'client-key': clientKey };
  const certificate =
    clientCertificate === undefined
      ? {
          'client-certificate': entry['client-certificate'],
          'client-certificate-data': entry['client-certificate-data'],
        }
      : { 'client-certificate': clientCertificate };
  const known = clientCertificate === undefined && clientKey === undefined ? {} : { ...certificate, ...key };
  return defined({ ...known, ...(token !== undefined && { token }) });
}

const defined = (entry: { readonly [K in keyof UserEntry]: UserEntry[K] | undefined }): UserEntry =>
  Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));

/**
 * Returns a kubeconfig with one cluster, user and context, all called `name`; certificates and key are PEM.
 */
export function singleKubeconfig(
  name: string,
  to: Omit<ResolvedContext, 'context' | 'namespace'>,
): Kubeconfig {
  const base64 = (pem: string) => Buffer.from(pem).toString('base64');
  return {
    clusters: {
      [name]: {
        server: to.server,
        ...(to.ca && { 'certificate-authority-data': base64(to.ca) }),
        ...(to.insecureSkipTlsVerify && { 'insecure-skip-tls-verify': true }),
        ...(to.tlsServerName && { 'tls-server-name': to.tlsServerName }),
      },
    },
    users: {
      [name]: {
        ...(to.token && { token: to.token }),
        ...(to.cert && { 'client-certificate-data': base64(to.cert) }),
        ...(to.key && { 'client-key-data': base64(to.key) }),
      },
    },
    contexts: { [name]: { cluster: name, user: name } },
    currentContext: name,
  };
}

/** Returns an own entry: a name from a file may be one that every object inherits. */
const own = <T>(entries: Readonly<Record<string, T>>, name: string | undefined): T | undefined =>
  name !== undefined && Object.hasOwn(entries, name) ? entries[name] : undefined;

/** Returns inline data or the content of a file; inline data takes precedence, as in client-go. */
function material(data: string | undefined, file: string | undefined): string | undefined {
  if (data) return Buffer.from(data, 'base64').toString('utf8');
  return file ? readRequired(file) : undefined;
}
