/** Rules of endpoint slices (upstream: pkg/apis/discovery/validation). */
import { repeats } from '../../../apimachinery/equality.ts';
import {
  duplicateCause,
  invalidCause,
  requiredCause,
  tooManyCause,
} from '../../../apimachinery/field-error.ts';
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkLabelValue,
  checkPortNumber,
  type NameCheck,
  nameCauses,
} from '../../../apimachinery/names.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { validateLabels } from '../../../apimachinery/validate-meta.ts';
import { appProtocolCauses } from '../../core/v1/service/endpoints-validation.ts';
import { checkIPv4, checkIPv6, checkNonSpecialIP } from '../../ip.ts';
import type { Endpoint, EndpointPort, EndpointSlice, ForZone } from './types.gen.ts';

const maxEndpoints = 1000;
const maxAddresses = 100;
const maxPorts = 20000;
const maxTopologyLabels = 16;
const maxZoneHints = 8;

const both =
  (first: NameCheck, second: NameCheck): NameCheck =>
  (text) => {
    const problems = first(text);
    return problems.length > 0 ? problems : second(text);
  };

/**
 * Checks by addressType. An object with an unknown addressType is validated, too; its addresses are then not
 * checked.
 */
const addressChecks: ReadonlyMap<string, NameCheck> = new Map<EndpointSlice['addressType'], NameCheck>([
  ['IPv4', both(checkIPv4, checkNonSpecialIP)],
  ['IPv6', both(checkIPv6, checkNonSpecialIP)],
  ['FQDN', checkDns1123Subdomain],
]);

export function validateEndpointSlice(slice: EndpointSlice): StatusCause[] {
  const check = addressChecks.get(slice.addressType) ?? (() => []);
  return [
    ...(slice.endpoints.length > maxEndpoints
      ? [tooManyCause('endpoints', slice.endpoints.length, maxEndpoints)]
      : slice.endpoints.flatMap((endpoint, index) =>
          validateEndpoint(endpoint, check, `endpoints[${index}]`),
        )),
    ...validatePorts(slice.ports),
  ];
}

export function validateEndpointSliceUpdate(slice: EndpointSlice, old: EndpointSlice): StatusCause[] {
  if (slice.addressType === old.addressType) return [];
  return [invalidCause('addressType', slice.addressType, 'field is immutable')];
}

function validateEndpoint(endpoint: Endpoint, check: NameCheck, path: string): StatusCause[] {
  const { addresses, hostname, nodeName, hints, deprecatedTopology = {} } = endpoint;
  const causes: StatusCause[] = [];
  if (addresses.length === 0)
    causes.push(requiredCause(`${path}.addresses`, 'must contain at least 1 address'));
  else if (addresses.length > maxAddresses)
    causes.push(tooManyCause(`${path}.addresses`, addresses.length, maxAddresses));
  causes.push(
    ...addresses.flatMap((address, index) => nameCauses(`${path}.addresses[${index}]`, address, check)),
  );
  if (hostname !== undefined) causes.push(...nameCauses(`${path}.hostname`, hostname, checkDns1123Label));
  if (nodeName !== undefined) causes.push(...nameCauses(`${path}.nodeName`, nodeName, checkDns1123Subdomain));
  const labels = Object.keys(deprecatedTopology).length;
  if (labels > maxTopologyLabels)
    causes.push(tooManyCause(`${path}.deprecatedTopology`, labels, maxTopologyLabels));
  else causes.push(...validateLabels(deprecatedTopology, `${path}.deprecatedTopology`));
  return [...causes, ...validateZones(hints?.forZones ?? [], `${path}.hints.forZones`)];
}

/** Validates the zones whose clients should use an endpoint. */
function validateZones(zones: readonly ForZone[], path: string): StatusCause[] {
  if (zones.length > maxZoneHints) return [tooManyCause(path, zones.length, maxZoneHints)];
  const repeated = repeats(zones.map(({ name }) => name));
  return zones.flatMap(({ name }, index) => {
    const at = `${path}[${index}].name`;
    return [...(repeated[index] ? [duplicateCause(at, name)] : []), ...nameCauses(at, name, checkLabelValue)];
  });
}

function validatePorts(ports: readonly EndpointPort[]): StatusCause[] {
  if (ports.length > maxPorts) return [tooManyCause('ports', ports.length, maxPorts)];
  const names = new Set<string>();
  return ports.flatMap(({ name, port, appProtocol }, index) => {
    const at = `ports[${index}]`;
    const causes = name ? nameCauses(`${at}.name`, name, checkDns1123Label) : [];
    if (names.has(name)) causes.push(duplicateCause(`${at}.name`, name));
    names.add(name);
    if (port !== undefined)
      causes.push(...checkPortNumber(port).map((problem) => invalidCause(`${at}.port`, port, problem)));
    causes.push(...appProtocolCauses(appProtocol, `${at}.appProtocol`));
    return causes;
  });
}
