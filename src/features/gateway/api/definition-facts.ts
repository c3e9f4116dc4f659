/** The facts that a CustomResourceDefinition is made of, as config/gateway-api/generate.ts writes them. */
export interface DefinitionFacts {
  /** Value of the annotation that definitions of the groups of Kubernetes need. */
  readonly approved: string;
  /** Value of the label by which tools find policies; absent for other kinds. */
  readonly policy?: string;
  readonly scope: string;
  readonly names: {
    readonly plural: string;
    readonly singular: string;
    readonly kind: string;
    readonly listKind: string;
    readonly shortNames?: readonly string[];
    readonly categories?: readonly string[];
  };
  readonly versions: readonly {
    readonly name: string;
    readonly served: boolean;
    readonly storage: boolean;
    readonly columns: readonly object[];
    /** Name of the version whose schema this version has. */
    readonly schema: string;
  }[];
  readonly schemas: Readonly<Record<string, object>>;
}
