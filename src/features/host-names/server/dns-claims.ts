/**
 * Claims of Dns objects: a path of a host belongs to one Dns. Each claim is stored, so that two servers can
 * never both accept the same path.
 */

import { invalidCause } from '../../../apimachinery/field-error.ts';
import { newInvalid } from '../../../apimachinery/status-error.ts';
import type { ClaimPlanner } from '../../../apiserver/registry/claim-planner.ts';
import { type Dns, dnsResource } from '../api/dns.ts';

const claimOf = (host: string, path: string) => `/claims/dns-paths/${host}${path}`;

const claimsOf = ({ spec }: Dns) => new Set(spec.paths.map(({ path }) => claimOf(spec.host, path)));

export const dnsClaims: ClaimPlanner = {
  plan(object, old, taken) {
    const dns = object as Dns;
    const { host, paths } = dns.spec;
    const [now, before] = [claimsOf(dns), old ? claimsOf(old as Dns) : new Set<string>()];
    const causes = paths.flatMap(({ path }, index) => {
      const claim = claimOf(host, path);
      if (!taken.has(claim) || before.has(claim)) return [];
      return [invalidCause(`spec.paths[${index}].path`, path, `another Dns serves ${host}${path}`)];
    });
    if (causes.length > 0) throw newInvalid(dnsResource, dns.metadata.name, causes);
    return {
      acquire: [...now].filter((key) => !before.has(key)).map((key) => ({ key, owner: dns.metadata.uid })),
      release: [...before].filter((key) => !now.has(key)),
    };
  },
  held: (object) => ({ release: [...claimsOf(object as Dns)] }),
};
