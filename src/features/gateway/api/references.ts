/** References of one object to another. Pure. */

export interface ObjectReference {
  readonly group?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name: string;
}

export interface ParentReference extends ObjectReference {
  readonly sectionName?: string;
  readonly port?: number;
}
