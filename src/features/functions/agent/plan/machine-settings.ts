/**
 * The part of this machine's settings for pip and npm that a build gets: the same index, proxy and
 * certificate authorities, and nothing else. Pure.
 */

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Variables that determine where packages come from and how they are reached. Variables that would change the
 * installed packages or their place are not included.
 */
const passed = [
  /^PIP_(?:INDEX_URL|EXTRA_INDEX_URL|NO_INDEX|FIND_LINKS|TRUSTED_HOST|CERT|CLIENT_CERT|PROXY|DEFAULT_TIMEOUT|TIMEOUT|RETRIES|KEYRING_PROVIDER)$/,
  /^npm_config_(?:registry|ca|cafile|cert|certfile|key|keyfile|proxy|https[-_]proxy|no[-_]?proxy|strict[-_]ssl|fetch[-_]\w+|maxsockets|_auth\w*|@.+|\/\/.+)$/i,
  /^(?:https?|no|all)_proxy$/i,
  /^(?:NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE)$/,
];

/** Returns the variables of a build as `NAME=value`. */
export const passedVariables = (environment: Environment): readonly string[] =>
  Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && passed.some((pattern) => pattern.test(name)) ? [`${name}=${value}`] : [],
  );

/** A settings file: its path on this machine, and its path in the build. */
export interface SettingsFile {
  readonly source: string;
  readonly target: string;
}

export const buildHome = '/minik8s/home';

/**
 * Returns the files in the order in which the programs read them: pip reads all, npm reads the user's file
 * and the global file.
 */
export function settingsFiles(environment: Environment): readonly SettingsFile[] {
  const home = environment.HOME || '/root';
  const config = environment.XDG_CONFIG_HOME || `${home}/.config`;
  const npm = (name: string) =>
    environment[`npm_config_${name}`] ?? environment[`NPM_CONFIG_${name.toUpperCase()}`];
  const own = environment.PIP_CONFIG_FILE;
  const pip = own === '/dev/null' || !own ? [] : [{ source: own, target: `${buildHome}/.pip/own.conf` }];
  return [
    { source: '/etc/pip.conf', target: '/etc/pip.conf' },
    { source: `${home}/.pip/pip.conf`, target: `${buildHome}/.pip/pip.conf` },
    { source: `${config}/pip/pip.conf`, target: `${buildHome}/.config/pip/pip.conf` },
    ...pip,
    { source: npm('globalconfig') ?? '/etc/npmrc', target: `${buildHome}/global.npmrc` },
    { source: npm('userconfig') ?? `${home}/.npmrc`, target: `${buildHome}/.npmrc` },
  ];
}

/** Returns the variables by which pip and npm find the settings files in a build. */
export function ownVariables(environment: Environment): readonly string[] {
  const own = environment.PIP_CONFIG_FILE;
  return [
    `HOME=${buildHome}`,
    `XDG_CONFIG_HOME=${buildHome}/.config`,
    `npm_config_globalconfig=${buildHome}/global.npmrc`,
    `npm_config_userconfig=${buildHome}/.npmrc`,
    `npm_config_cache=${buildHome}/.npm`,
    ...(own ? [`PIP_CONFIG_FILE=${own === '/dev/null' ? own : `${buildHome}/.pip/own.conf`}`] : []),
  ];
}

const pathSettings =
  /^\s*(?:cert|client-cert|find-links|cafile|certfile|keyfile|[^=\s]*:(?:certfile|keyfile))\s*=\s*(.+)$/gim;
const pathVariables =
  /^(?:PIP_(?:FIND_LINKS|CERT|CLIENT_CERT)|npm_config_(?:cafile|certfile|keyfile)|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE)$/i;

/**
 * Returns files and folders of this machine that the settings refer to: certificate authorities, keys,
 * packages.
 */
export function namedPaths(environment: Environment, texts: readonly string[]): readonly string[] {
  const values = [
    ...Object.entries(environment).flatMap(([name, value]) =>
      pathVariables.test(name) ? (value ?? '') : [],
    ),
    ...texts.flatMap((text) => Array.from(text.matchAll(pathSettings), ([, value = '']) => value)),
  ];
  const words = values
    .flatMap((value) => value.split(/[\s,]+/))
    .map((word) => word.replace(/^["']|["']$|^file:\/\//g, ''));
  return [...new Set(words.filter((word) => /^\/(?!.*(?:^|\/)\.\.(?:\/|$))[^:]+$/.test(word)))].sort();
}
