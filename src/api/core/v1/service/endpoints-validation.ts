/** Rules of Endpoints (upstream: ValidateEndpoints). */

import { invalidCause, requiredCause } from '../../../../apimachinery/field-error.ts';
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkPortNumber,
  checkQualifiedName,
  nameCauses,
} from '../../../../apimachinery/names.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import { checkNonSpecialIP } from '../../../ip.ts';
import type { EndpointAddress, EndpointPort, EndpointSubset, Endpoints } from '../types.gen.ts';

export const validateEndpoints = (endpoints: Endpoints): StatusCause[] =>
  (endpoints.subsets ?? []).flatMap((subset, index) => validateSubset(subset, `subsets[${index}]`));

/** Validates a subset. Ports are optional: a headless Service may have none. */
function validateSubset(subset: EndpointSubset, path: string): StatusCause[] {
  const { addresses = [], notReadyAddresses = [], ports = [] } = subset;
  const causes: StatusCause[] = [];
  if (addresses.length + notReadyAddresses.length === 0)
    causes.push(requiredCause(path, 'must specify `addresses` or `notReadyAddresses`'));
  return [
    ...causes,
    ...addresses.flatMap((address, index) => validateAddress(address, `${path}.addresses[${index}]`)),
    ...notReadyAddresses.flatMap((address, index) =>
      validateAddress(address, `${path}.notReadyAddresses[${index}]`),
    ),
    ...ports.flatMap((port, index) => validatePort(port, ports.length > 1, `${path}.ports[${index}]`)),
  ];
}

function validateAddress({ ip, hostname, nodeName }: EndpointAddress, path: string): StatusCause[] {
  return [
    ...nameCauses(`${path}.ip`, ip, checkNonSpecialIP),
    ...(hostname ? nameCauses(`${path}.hostname`, hostname, checkDns1123Label) : []),
    ...(nodeName === undefined ? [] : nameCauses(`${path}.nodeName`, nodeName, checkDns1123Subdomain)),
  ];
}

function validatePort(port: EndpointPort, named: boolean, path: string): StatusCause[] {
  const { name, port: number, appProtocol } = port;
  const causes: StatusCause[] = [];
  if (name) causes.push(...nameCauses(`${path}.name`, name, checkDns1123Label));
  else if (named) causes.push(requiredCause(`${path}.name`));
  causes.push(...checkPortNumber(number).map((problem) => invalidCause(`${path}.port`, number, problem)));
  return [...causes, ...appProtocolCauses(appProtocol, `${path}.appProtocol`)];
}

/** Validates the protocol name of a port, the same for Services, Endpoints and slices. */
export const appProtocolCauses = (appProtocol: string | undefined, path: string): StatusCause[] =>
  appProtocol === undefined ? [] : nameCauses(path, appProtocol, checkQualifiedName);
