/** Dns objects as sites of the node's web server. Pure. */
import type { Action, Site } from '../../../web-server/site.ts';
import type { HostRoutes, PathRoute } from './routes.ts';

/** Bodies of requests have no maximum, and the Service receives the rest of the path. */
export const dnsSites = (hosts: readonly HostRoutes[]): readonly Site[] =>
  hosts.map(({ host, paths }) => ({
    host,
    notFound: 'no Dns serves this path',
    routes: paths.map((path) => ({
      match: { type: 'Prefix', path: path.path },
      action: actionOf(path),
      policy: { maxBodyBytes: 0 },
    })),
  }));

const actionOf = ({ upstream }: PathRoute): Action =>
  upstream === undefined
    ? { type: 'unavailable' }
    : { type: 'proxy', protocol: 'HTTP', backends: [upstream], stripsPrefix: true };
