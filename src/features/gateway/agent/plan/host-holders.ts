/** The oldest route of each host of the Gateways, which may keep it from an Ingress or a Dns object. Pure. */
import { type Holder, oldestHolder } from '../../../../web-server/host-holders.ts';
import type { Site } from '../../../../web-server/site.ts';
import { type Attachment, hostsOf } from '../../api/attachments.ts';
import type { Route } from '../../api/kinds.ts';

/** Returns a function that gives the oldest route of a site; undefined for a site without its own routes. */
export function holdersOf(attachments: readonly Attachment[]): (site: Site) => Holder | undefined {
  const routes = new Map<string, Set<Route>>();
  for (const { route, listeners } of attachments)
    for (const { listener, hostname } of listeners)
      for (const host of hostsOf(route, hostname)) {
        const key = `${listener.port} ${host}`;
        routes.set(key, (routes.get(key) ?? new Set()).add(route));
      }
  return ({ host, listen }) => oldestHolder(routes.get(`${listen?.port} ${host}`) ?? []);
}
