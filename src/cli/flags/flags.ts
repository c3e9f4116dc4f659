/**
 * Flags in kubectl's form: they may be repeated, may be anywhere, and may be written `-o=json` or
 * `--wait=false`.
 */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import type { ArgDef, ArgsDef } from 'citty';
import { booleanOf } from '../../base/go-boolean.ts';
import { integerOf } from '../../base/go-integer.ts';
import { parseDuration } from '../../base/time.ts';
import { UsageError } from '../../base/usage-error.ts';
import { byHeading } from './flag-groups.ts';

export interface FlagDefinition {
  readonly type: 'string' | 'boolean';
  readonly about: string;
  /** One letter. */
  readonly short?: string;
  /** Placeholder of the value in the usage text. */
  readonly hint?: string;
  /** True for a boolean flag that is on unless it is turned off. */
  readonly on?: true;
  /** The default, for the usage text. */
  readonly usual?: string;
  /** Values that completion offers; others are accepted too. */
  readonly values?: readonly string[];
  /**
   * Value of the flag if it is written without one. The word after the flag is its value only if it is one of
   * `values`.
   */
  readonly bare?: string;
  /**
   * Heading under which --help lists the flag, in place of the heading that flag-groups.ts has for its name.
   */
  readonly subject?: string;
}

export type FlagTable = Readonly<Record<string, FlagDefinition>>;

export const connectionFlags = {
  kubeconfig: {
    type: 'string',
    hint: 'FILE',
    about: 'kubeconfig file to use',
    usual: '$KUBECONFIG, ~/.kube/config, or the admin.conf of a master on this machine',
  },
  context: {
    type: 'string',
    hint: 'NAME',
    about: 'kubeconfig context to use',
    usual: 'its current context',
  },
  cluster: {
    type: 'string',
    hint: 'NAME',
    about: 'kubeconfig cluster to use',
    usual: 'that of the context',
  },
  user: {
    type: 'string',
    hint: 'NAME',
    about: 'kubeconfig user to use',
    usual: 'that of the context',
  },
  server: { type: 'string', short: 's', hint: 'URL', about: 'address and port of the API server' },
  token: {
    type: 'string',
    hint: 'TOKEN',
    about:
      'bearer token to authenticate with (overrides client certificates); visible to all users of this machine',
  },
  'client-certificate': { type: 'string', hint: 'FILE', about: 'client certificate file for TLS' },
  'client-key': { type: 'string', hint: 'FILE', about: 'client key file for TLS' },
  'certificate-authority': {
    type: 'string',
    hint: 'FILE',
    about: 'certificate file of the certificate authority',
  },
  'insecure-skip-tls-verify': {
    type: 'boolean',
    about: "do not verify the server's certificate (insecure)",
  },
  'tls-server-name': {
    type: 'string',
    hint: 'NAME',
    about: 'server name to verify the certificate of the server against',
    usual: 'the host of the server',
  },
  as: { type: 'string', hint: 'USER', about: 'user to impersonate' },
  'as-group': {
    type: 'string',
    hint: 'GROUP',
    about: 'group to impersonate; may be repeated',
  },
  'as-uid': { type: 'string', hint: 'UID', about: 'UID to impersonate' },
  'as-user-extra': {
    type: 'string',
    hint: 'KEY=VALUE',
    about: 'extra field of the user to impersonate; may be repeated, also for one key',
  },
  'proxy-url': {
    type: 'string',
    hint: 'URL',
    about: 'proxy for requests to the API server',
    usual: 'that of the cluster in the kubeconfig, or of $HTTPS_PROXY',
  },
  kuberc: {
    type: 'string',
    hint: 'FILE',
    about: 'file with your aliases of commands and defaults of flags',
    usual: '$KUBERC, or ~/.kube/kuberc',
  },
  'request-timeout': {
    type: 'string',
    hint: 'TIME',
    about: 'time to wait for a single server request, such as 5s or 2m; 0: no timeout',
    usual: '0',
  },
  'cache-dir': {
    type: 'string',
    hint: 'FOLDER',
    about: 'folder in which the kinds of each server are kept for six hours',
    usual: '$KUBECACHEDIR, or ~/.kube/cache',
  },
  'disable-compression': {
    type: 'boolean',
    about: 'no effect, for scripts of kubectl: answers are never compressed',
  },
  'warnings-as-errors': {
    type: 'boolean',
    about: 'end with an error if the server sends warnings',
  },
  namespace: {
    type: 'string',
    short: 'n',
    hint: 'NAME',
    about: 'namespace of the request',
    usual: 'the namespace of the context',
  },
  v: {
    type: 'string',
    short: 'v',
    hint: 'LEVEL',
    about: 'log level; from 1, server errors include the audit id of the request, for searches in the logs',
    usual: '0',
  },
  color: {
    type: 'string',
    hint: 'auto|always|never',
    about: 'colour of headers, states and errors; auto: on a terminal, unless $NO_COLOR is set',
    usual: 'auto',
  },
} as const satisfies FlagTable;

export const selectorFlag = {
  selector: { type: 'string', short: 'l', hint: 'SELECTOR', about: 'only objects whose labels match' },
} as const satisfies FlagTable;

export const fileFlags = {
  filename: {
    type: 'string',
    short: 'f',
    hint: 'FILE',
    about: 'a manifest: a file, a directory of them, a URL, or - for standard input',
  },
  kustomize: {
    type: 'string',
    short: 'k',
    hint: 'DIR',
    about: 'a kustomization: a directory, or a git repository; not together with -f',
  },
  recursive: { type: 'boolean', short: 'R', about: 'process the directory recursively' },
} as const satisfies FlagTable;

/** Returns true if the command line names manifests, by -f or by -k. */
export const namesManifests = (flags: Flags): boolean => flags.given('filename') || flags.given('kustomize');

/** Throws UsageError unless the command line names manifests. */
export function requireManifests(flags: Flags): void {
  if (!namesManifests(flags)) throw new UsageError('must specify one of -f and -k');
}

export const dryRunFlag = {
  'dry-run': {
    type: 'string',
    hint: 'none|client|server',
    about: 'client: print the object without sending it; server: send it without storing it',
    usual: 'none',
    values: ['none', 'client', 'server'],
    bare: 'client',
  },
} as const satisfies FlagTable;

/** Returns the flags with this heading in --help. */
export const under = <const T extends FlagTable>(
  subject: string,
  flags: T,
): { readonly [K in keyof T]: T[K] & { readonly subject: string } } =>
  Object.fromEntries(
    Object.entries(flags).map(([name, definition]) => [name, { ...definition, subject }]),
  ) as { [K in keyof T]: T[K] & { subject: string } };

/** Converts flags to the form in which the executable checks arguments and prints usage. */
export function toArgs(flags: FlagTable, words: string | readonly string[] | undefined): ArgsDef {
  const args: ArgsDef = {};
  // A form that begins with a flag, such as `-f FILE`, has no words.
  const form = [words ?? []].flat().find((one) => !one.startsWith('-'));
  if (form) args[form] = { type: 'positional', required: false, description: '' };
  for (const { name, heading } of byHeading(flags)) {
    const definition = flags[name];
    if (definition !== undefined) args[name] = toArg(definition, heading, isCommon(name, definition));
  }
  return args;
}

const isCommon = (name: string, definition: FlagDefinition) =>
  Object.hasOwn(connectionFlags, name) &&
  connectionFlags[name as keyof typeof connectionFlags] === definition;

function toArg(
  { type, about, short, hint, on, usual, values, bare }: FlagDefinition,
  group: string,
  common: boolean,
): ArgDef {
  const shared = {
    ...{ description: about, group },
    ...(short && { alias: short }),
    ...(usual && { usual }),
    ...(common && { common }),
  };
  return type === 'string'
    ? { type, ...shared, ...(hint && { valueHint: hint }), ...(values && { values }), ...(bare && { bare }) }
    : { type, ...shared, ...(on && { default: true }) };
}

type Token = NonNullable<ReturnType<typeof parseArgs>['tokens']>[number];

/** Returns the values of a flag in the order of the command line. pflag also accepts `-o=json`. */
const textsOf = (name: string, tokens: readonly Token[]): readonly string[] =>
  tokens.flatMap((token) => {
    if (token.kind !== 'option' || token.name !== name || token.value === undefined) return [];
    const isShort = token.inlineValue && !token.rawName.startsWith('--');
    return [isShort ? token.value.replace(/^=/, '') : token.value];
  });

export class Flags {
  /** All words except the flags and the words after `--`. */
  readonly words: readonly string[];
  /** The words after `--`; undefined without `--`. */
  readonly behindDashes: readonly string[] | undefined;
  #values: ReadonlyMap<string, readonly (string | boolean)[]>;
  readonly #table: FlagTable;
  readonly #argv: readonly string[];

  constructor(table: FlagTable, argv: readonly string[]) {
    this.#argv = argv;
    const options: ParseArgsOptionsConfig = {};
    for (const [name, { type, short }] of Object.entries(table))
      options[name] = { type, multiple: true, ...(short && { short }) };
    const { values, positionals, tokens } = parseArgs({
      args: [...argv],
      options,
      allowPositionals: true,
      allowNegative: true,
      tokens: true,
    });
    this.#table = table;
    this.words = positionals;
    const end = tokens.find(({ kind }) => kind === 'option-terminator');
    this.behindDashes = end && argv.slice(end.index + 1);
    this.#values = new Map(
      Object.entries(values).map(([name, found]) => {
        const isText = table[name]?.type === 'string';
        const list = isText ? textsOf(name, tokens) : [found ?? false].flat();
        // The parser reads `--no-headers` as the negation of a flag `--headers`, which does not exist.
        return Object.hasOwn(table, name) ? [name, list] : [`no-${name}`, list.map((value) => !value)];
      }),
    );
  }

  /** Returns the same flags as if this one had not been given. */
  without(name: string): Flags {
    const rest = new Flags(this.#table, this.#argv);
    rest.#values = new Map([...this.#values].filter(([key]) => key !== name));
    return rest;
  }

  /** Returns the same flags with one value of this flag. */
  with(name: string, value: string): Flags {
    const more = new Flags(this.#table, this.#argv);
    more.#values = new Map([...this.#values, [name, [value]]]);
    return more;
  }

  /** Returns the last value given. */
  text(name: string): string | undefined {
    return this.texts(name).at(-1);
  }

  texts(name: string): string[] {
    return (this.#values.get(name) ?? []).filter((value) => typeof value === 'string');
  }

  on(name: string): boolean {
    const last = this.#values.get(name)?.at(-1);
    return typeof last === 'boolean' ? last : this.#table[name]?.on === true;
  }

  /** Returns true if the flag is the one in this table, not a verb's own flag of the same name. */
  isOf(table: FlagTable, name: string): boolean {
    return this.#table[name] === table[name];
  }

  given(name: string): boolean {
    return this.#values.has(name);
  }

  /** Returns a whole number, such as `10` or `0xa`; throws a UsageError that names the flag. */
  whole(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = integerOf(text);
    if (value === undefined)
      throw new UsageError(`--${name}: expected a whole number, got ${JSON.stringify(text)}`);
    return value;
  }

  /** Returns a duration such as `90s`, `5m` or `1h30m` in milliseconds; a bare number is in seconds. */
  duration(name: string): number | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : readDuration(name, text);
  }

  oneOf<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const found = choices.find((choice) => choice === text);
    if (found === undefined)
      throw new UsageError(`--${name}: expected ${choices.join(', ')}, got ${JSON.stringify(text)}`);
    return found;
  }

  /**
   * Like `oneOf`, for a flag that is a boolean in old scripts: `yes` and `no` are the choices for true and
   * false.
   */
  oneOfOrBoolean<T extends string>(
    name: string,
    choices: readonly T[],
    { yes, no }: { readonly yes: T; readonly no: T },
  ): T | undefined {
    const old = booleanOf(this.text(name));
    if (old === undefined) return this.oneOf(name, choices);
    return old ? yes : no;
  }
}

function readDuration(name: string, text: string): number {
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : parseDuration(text);
  if (ms !== undefined && ms <= maxDurationMs) return ms;
  throw new UsageError(`--${name}: expected a duration such as 30s, 5m or 1h, got ${JSON.stringify(text)}`);
}

/** Longest duration of Go, which kubectl accepts: 292 years. */
const maxDurationMs = 2 ** 63 / 1e6;

export type DryRun = 'none' | 'client' | 'server';

/** Returns the value of --dry-run; the booleans of old scripts are accepted. Throws UsageError. */
export const dryRunOf = (flags: Flags): DryRun =>
  flags.oneOfOrBoolean('dry-run', ['none', 'client', 'server'], { yes: 'client', no: 'none' }) ?? 'none';

/** kubectl's suffix of a message about a dry run. */
export const dryRunSuffix: Readonly<Record<DryRun, string>> = {
  none: '',
  client: ' (dry run)',
  server: ' (server dry run)',
};
