/** Decides by the rules of a SelfSubjectRulesReview whether an action is allowed. Pure. */
export interface AccessRules {
  readonly resourceRules?: readonly {
    readonly verbs: readonly string[];
    readonly apiGroups?: readonly string[];
    readonly resources?: readonly string[];
    readonly resourceNames?: readonly string[];
  }[];
}

export interface Action {
  readonly verb: string;
  readonly group: string;
  readonly plural: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** Empty if no object is named: rules for certain names do not count then. */
  readonly name: string;
}

const includes = (list: readonly string[] | undefined, value: string) =>
  list?.some((each) => each === '*' || each === value) === true;

export const allows = ({ resourceRules = [] }: AccessRules, action: Action): boolean =>
  resourceRules.some(
    ({ verbs, apiGroups, resources, resourceNames = [] }) =>
      includes(verbs, action.verb) &&
      includes(apiGroups, action.group) &&
      coversResource(resources, action) &&
      (resourceNames.length === 0 || resourceNames.includes(action.name)),
  );

function coversResource(resources: readonly string[] | undefined, { plural, subresource }: Action): boolean {
  if (subresource === '') return includes(resources, plural);
  return includes(resources, `${plural}/${subresource}`) || resources?.includes(`*/${subresource}`) === true;
}
