/** Options of a write besides its object: one value for every kind of write. */
import { type FieldValidation, parseFieldValidation } from '../apimachinery/decode.ts';
import { invalidCause, tooLongCause } from '../apimachinery/field-error.ts';
import type { ResourceDefinition } from '../apimachinery/resource-definition.ts';
import { newInvalid, type StatusCause } from '../apimachinery/status-error.ts';
import type { Aside } from './load/shed.ts';
import { parseDryRun, type RequestScope } from './request/request-scope.ts';
import type { UserInfo } from './request/user.ts';

export interface WriteOptions {
  readonly user: UserInfo;
  /** True if everything but the write itself is done. */
  readonly dryRun: boolean;
  /**
   * Manager of the fields that this write sets: as given by the client, otherwise the first part of its
   * User-Agent.
   */
  readonly fieldManager: string;
  readonly validation: FieldValidation;
  /** The version in which the object was written. */
  readonly served: ResourceDefinition;
  /** Adds a Warning header to the answer; a repeated text is ignored. */
  readonly warn: (text: string) => void;
  readonly aside?: Aside | undefined;
}

/** Number of characters; upstream's FieldManagerMaxLength. */
const maxManagerCharacters = 128;

/** Parses the query parameters. Throws Invalid (422) for invalid values. */
export function writeOptions(
  scope: Pick<RequestScope, 'aside' | 'query' | 'request' | 'served' | 'user' | 'warnings'>,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
): WriteOptions {
  const { query, request, served, user, warnings } = scope;
  const options = { group: 'meta.k8s.io', kind };
  const dryRun = parseDryRun(query.getAll('dryRun'), options);
  const manager = query.get('fieldManager') ?? '';
  const causes = managerCauses(manager);
  if (causes.length > 0) throw newInvalid(options, '', causes);
  return {
    user,
    dryRun,
    fieldManager: manager || agentName(request.headers.get('user-agent') ?? ''),
    validation: parseFieldValidation(query.get('fieldValidation') ?? '', kind),
    served,
    warn: warner({ warnings }),
    aside: scope.aside,
  };
}

/** Returns a function that adds a Warning header to the answer; a repeated text is ignored. */
export const warner =
  ({ warnings }: Pick<RequestScope, 'warnings'>) =>
  (text: string): void => {
    if (!warnings.includes(text)) warnings.push(text);
  };

function managerCauses(manager: string): StatusCause[] {
  const causes =
    manager.length > maxManagerCharacters ? [tooLongCause('fieldManager', maxManagerCharacters)] : [];
  return /^[\P{C}]*$/u.test(manager)
    ? causes
    : [...causes, invalidCause('fieldManager', manager, 'should only contain printable characters')];
}

/** Returns the name of a User-Agent: `kubectl/v1.32.0 (linux/amd64)` is kubectl. */
const agentName = (agent: string) => (agent.split('/', 1)[0] ?? '').slice(0, maxManagerCharacters);
