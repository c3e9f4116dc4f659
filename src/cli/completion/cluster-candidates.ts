/** Kinds and names of objects as candidates for the words of a ctl verb. A run of ctl itself lists them. */

/** Runs ctl with the arguments, and returns the lines that it prints; none if it fails or takes too long. */
export type AskCluster = (args: readonly string[]) => Promise<readonly string[]>;

interface Request {
  /** The words of the command, such as `ctl get`. */
  readonly path: readonly string[];
  readonly positionals: readonly string[];
  readonly flags: ReadonlyMap<string, string>;
  /** The word to complete. */
  readonly typed: string;
}

/** Verbs whose first word is a kind and whose further words are names. */
const kindVerbs: ReadonlySet<string> = new Set(
  'get describe why tree delete edit label annotate patch scale autoscale wait explain taint'.split(' '),
);

/** Verbs whose first word is the name of an object of one kind. */
const nameVerbs: Readonly<Record<string, string>> = {
  ...{ logs: 'pods', exec: 'pods', attach: 'pods', 'port-forward': 'pods' },
  ...{ cordon: 'nodes', uncordon: 'nodes', drain: 'nodes' },
};

/**
 * Flags that choose the cluster and the namespace, and are repeated for the ctl that lists the names. Other
 * flags, such as a token, are not.
 */
const repeated = ['kubeconfig', 'context', 'cluster', 'user', 'server', 'namespace'];

/** Returns the candidates; none for commands whose words are neither kinds nor names of objects. */
export async function clusterCandidates(request: Request, ask: AskCluster) {
  const {
    path: [role, verb = ''],
    positionals,
  } = request;
  if (role !== 'ctl') return [];
  const only = Object.hasOwn(nameVerbs, verb) ? nameVerbs[verb] : undefined;
  if (only !== undefined) return positionals.length > 0 ? [] : toWords(await namesOf(only, request, ask));
  if (!kindVerbs.has(verb)) return [];
  const [kind] = positionals;
  if (kind === undefined) return firstWords(request, ask);
  if (verb === 'explain' || kind.includes('/')) return [];
  return toWords((await namesOf(kind, request, ask)).filter((name) => !positionals.includes(name)));
}

/** Returns the kinds, or `KIND/NAME` for each object of a kind if the word begins with `KIND/`. */
async function firstWords(request: Request, ask: AskCluster) {
  const [, kind] = /^([^/]+)\//.exec(request.typed) ?? [];
  if (kind === undefined)
    return toWords(shortest(await ask(['api-resources', '--output=name', ...chosen(request)])));
  return toWords((await namesOf(kind, request, ask)).map((name) => `${kind}/${name}`));
}

const chosen = ({ flags }: Request) =>
  repeated.flatMap((name) => (flags.has(name) ? [`--${name}=${flags.get(name)}`] : []));

async function namesOf(kind: string, request: Request, ask: AskCluster): Promise<readonly string[]> {
  // A kind is typed by the user: it must not become a flag.
  if (kind.startsWith('-')) return [];
  const lines = await ask(['get', kind, '--output=name', ...chosen(request)]);
  return lines.map((line) => line.slice(line.indexOf('/') + 1)).filter(isOffered);
}

/** Returns false for a name that would be a flag, such as `--all`, or that would control the terminal. */
const isOffered = (name: string): boolean => !name.startsWith('-') && !/[\p{Cc}\p{Bidi_Control}]/u.test(name);

const toWords = (words: readonly string[]) => words.map((word) => ({ word }));

/** Returns `deployments` for `deployments.apps`, unless another group has deployments too. */
export function shortest(resources: readonly string[]): readonly string[] {
  const plural = (resource: string) => resource.split('.', 1)[0] ?? resource;
  const counts = new Map<string, number>();
  for (const resource of resources) counts.set(plural(resource), (counts.get(plural(resource)) ?? 0) + 1);
  return resources.map((resource) => (counts.get(plural(resource)) === 1 ? plural(resource) : resource));
}
