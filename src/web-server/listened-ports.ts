/** Finds which ports of sites can be served, besides the ports of the server for HTTP and HTTPS. */
import type { Site } from './site.ts';

export interface PortFacts {
  /** Port of the server for HTTP. */
  readonly http: number;
  /** Port of the server for HTTPS; undefined while HTTPS is not served. */
  readonly https: number | undefined;
  /** Port of the server for HTTPS if it were served. */
  readonly wantedHttps: number | undefined;
  /** Ports on which the running configuration listens. */
  readonly running: ReadonlySet<number>;
  /** Resolves to why a port of this machine cannot be listened on; undefined if it can. */
  readonly portProblem: (port: number) => Promise<string | undefined>;
}

export interface ListenedSites {
  readonly sites: readonly Site[];
  /** Ports besides those for HTTP and HTTPS, sorted. */
  readonly ports: readonly number[];
  /** One sentence for each port that is not served. */
  readonly problems: readonly string[];
}

/** Resolves to the sites whose ports can be served. */
export async function listenedSites(sites: readonly Site[], facts: PortFacts): Promise<ListenedSites> {
  const wanted = new Map(sites.flatMap(({ listen }) => (listen ? [[listen.port, listen.tls] as const] : [])));
  const problems = new Map<number, string>();
  const ports: number[] = [];
  for (const [port, tls] of [...wanted].sort(([a], [b]) => a - b)) {
    const own = ownPort(port, facts);
    const why = own === undefined ? await otherProblem(port, facts) : own.tls === tls ? undefined : own.words;
    if (why !== undefined) problems.set(port, `port ${port} of this node ${why}`);
    else if (own === undefined) ports.push(port);
  }
  return {
    sites: sites.filter(({ listen }) => !listen || !problems.has(listen.port)),
    ports,
    problems: [...problems.values()],
  };
}

/** Returns what a port of the server itself is for; undefined for other ports. */
function ownPort(port: number, { http, https, wantedHttps }: PortFacts) {
  if (port === http) return { tls: false, words: 'is for HTTP' };
  if (port !== wantedHttps) return undefined;
  return https === undefined
    ? { tls: undefined, words: 'is not served' }
    : { tls: true, words: 'is for HTTPS' };
}

const otherProblem = async (port: number, { running, portProblem }: PortFacts) =>
  running.has(port) ? undefined : portProblem(port);

/** Returns the part of a generation's name that lists these ports. */
export const portsText = (ports: readonly number[]): string =>
  ports.length === 0 ? '' : `-p${ports.join('-')}`;

/** Returns the ports that the name of a generation lists. */
export function portsOfText(generation: string | undefined): ReadonlySet<number> {
  const [, list] = /-p(\d+(?:-\d+)*)/.exec(generation ?? '') ?? [];
  return new Set(list?.split('-').map(Number));
}
