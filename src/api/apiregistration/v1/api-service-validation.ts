/** Rules of APIServices (upstream: ValidateAPIService). */
import { invalidCause, notSupportedCause, requiredCause } from '../../../apimachinery/field-error.ts';
import { checkDns1035Label, checkDns1123Subdomain, nameCauses } from '../../../apimachinery/names.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import type { APIService, APIServiceSpec, ServiceReference } from './types.gen.ts';

const maxGroupPriority = 20_000;
const maxVersionPriority = 1000;
const maxPort = 0xffff;
const statuses = ['True', 'False', 'Unknown'];

/** Returns the name that the APIService of a group and version must have. */
export const apiServiceName = ({ group, version }: { readonly group: string; readonly version: string }) =>
  `${version}.${group}`;

export function validateApiService({ metadata, spec }: APIService): StatusCause[] {
  const { group = '', version = '', groupPriorityMinimum, versionPriority, service } = spec;
  const name = apiServiceName({ group, version });
  const outside = (value: number, max: number) => value <= 0 || value > max;
  return [
    ...(metadata.name === name
      ? []
      : [
          invalidCause(
            'metadata.name',
            metadata.name,
            `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(name)}`,
          ),
        ]),
    ...(group === '' && version !== 'v1'
      ? [requiredCause('spec.group', 'only v1 may have an empty group and it better be legacy kube')]
      : []),
    ...(group === '' ? [] : nameCauses('spec.group', group, checkDns1123Subdomain)),
    ...nameCauses('spec.version', version, checkDns1035Label),
    ...(outside(groupPriorityMinimum, maxGroupPriority)
      ? [
          invalidCause(
            'spec.groupPriorityMinimum',
            groupPriorityMinimum,
            'must be positive and less than 20000',
          ),
        ]
      : []),
    ...(outside(versionPriority, maxVersionPriority)
      ? [invalidCause('spec.versionPriority', versionPriority, 'must be positive and less than 1000')]
      : []),
    ...(service ? validateRemote(spec, service) : validateLocal(spec)),
  ];
}

/** Returns the problems of an APIService that this server itself serves. */
function validateLocal({ caBundle, insecureSkipTLSVerify }: APIServiceSpec): StatusCause[] {
  const bytes = Buffer.byteLength(caBundle ?? '', 'base64');
  return [
    ...(bytes > 0
      ? [invalidCause('spec.caBundle', `${bytes} bytes`, 'local APIServices may not have a caBundle')]
      : []),
    ...(insecureSkipTLSVerify
      ? [
          invalidCause(
            'spec.insecureSkipTLSVerify',
            true,
            'local APIServices may not have insecureSkipTLSVerify',
          ),
        ]
      : []),
  ];
}

/** Returns the problems of an APIService that an extension server serves. */
function validateRemote(
  { caBundle, insecureSkipTLSVerify }: APIServiceSpec,
  { namespace, name, port }: ServiceReference,
): StatusCause[] {
  return [
    ...(namespace ? [] : [requiredCause('spec.service.namespace')]),
    ...(name ? [] : [requiredCause('spec.service.name')]),
    ...(port > 0 && port <= maxPort
      ? []
      : [
          invalidCause(
            'spec.service.port',
            port,
            'port is not valid: must be between 1 and 65535, inclusive',
          ),
        ]),
    ...(insecureSkipTLSVerify && caBundle
      ? [invalidCause('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present')]
      : []),
  ];
}

export const validateApiServiceStatus = ({ status }: APIService): StatusCause[] =>
  (status?.conditions ?? []).flatMap((condition, index) =>
    statuses.includes(condition.status)
      ? []
      : [notSupportedCause(`status.conditions[${index}].status`, condition.status, statuses)],
  );
