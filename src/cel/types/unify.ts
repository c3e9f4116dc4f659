/** Assignability of types, with the substitution of their parameters (cel-go checker/types.go). */
import {
  dyn,
  isDyn,
  isError,
  nameOf,
  nullType,
  parametersOf,
  sameType,
  type Type,
  withParameters,
} from './type.ts';

/** Types that parameters stand for. A failed attempt is taken back by its trail, not by a copy of all. */
export class Substitution {
  private readonly types = new Map<string, Type>();
  private readonly trail: (readonly [name: string, before: Type | undefined])[] = [];

  get(name: string): Type | undefined {
    return this.types.get(name);
  }

  set(name: string, type: Type): void {
    this.trail.push([name, this.types.get(name)]);
    this.types.set(name, type);
  }

  /** Does the work, and takes back its changes unless it succeeds. */
  attempt(work: () => boolean): boolean {
    const begin = this.trail.length;
    if (work()) return true;
    for (const [name, before] of this.trail.splice(begin).reverse()) {
      if (before === undefined) this.types.delete(name);
      else this.types.set(name, before);
    }
    return false;
  }
}

/** Returns whether `from` is assignable to `to`. The substitution changes only if so. */
export function assignable(substitution: Substitution, from: Type, to: Type): boolean {
  return substitution.attempt(() => unify(substitution, from, to));
}

export function assignableAll(
  substitution: Substitution,
  from: readonly Type[],
  to: readonly Type[],
): boolean {
  return substitution.attempt(() => unifyAll(substitution, from, to));
}

function unifyAll(substitution: Substitution, from: readonly Type[], to: readonly Type[]): boolean {
  return from.length === to.length && from.every((type, at) => unify(substitution, type, to[at] ?? dyn));
}

function unify(substitution: Substitution, from: Type, to: Type): boolean {
  if (to.kind === 'parameter') {
    const { valid, known } = bindable(substitution, from, to);
    if (valid) return true;
    if (known) return false;
  }
  if (from.kind === 'parameter') return bindable(substitution, to, from).valid;
  if (isAny(from) || isAny(to)) return true;
  if (sameType(from, nullType)) return isNullable(to);
  return sameType(to, nullType) ? isNullable(from) : unifyKnown(substitution, from, to);
}

function isAny(type: Type): boolean {
  return isDyn(type) || isError(type);
}

function unifyKnown(substitution: Substitution, from: Type, to: Type): boolean {
  if (from.kind === 'type') return to.kind === 'type';
  const isAlike = from.kind === to.kind && nameOf(from) === nameOf(to);
  return isAlike && unifyAll(substitution, parametersOf(from), parametersOf(to));
}

const nullableScalars: ReadonlySet<string> = new Set(['null_type', 'duration', 'timestamp']);

function isNullable(type: Type): boolean {
  return type.kind === 'opaque' || type.kind === 'object' || nullableScalars.has(nameOf(type));
}

/**
 * Binds the parameter to the type, or to the more general of it and what the parameter stands for already.
 */
function bindable(
  substitution: Substitution,
  type: Type,
  parameter: Type & { kind: 'parameter' },
): { valid: boolean; known: boolean } {
  if (sameType(type, parameter)) return { valid: true, known: true };
  const known = substitution.get(parameter.name);
  if (known !== undefined) {
    if (sameType(type, known)) return { valid: true, known: true };
    if (!unify(substitution, type, known)) return { valid: false, known: true };
    const general = moreGeneral(type, known);
    if (!occursIn(substitution, parameter, general)) substitution.set(parameter.name, general);
    return { valid: true, known: true };
  }
  if (occursIn(substitution, parameter, type)) return { valid: false, known: false };
  substitution.set(parameter.name, type);
  return { valid: true, known: false };
}

/** Returns the more general of two types that unify. */
export function moreGeneral(left: Type, right: Type): Type {
  return isLessSpecific(left, right) ? left : right;
}

function isLessSpecific(left: Type, right: Type): boolean {
  if (isDyn(left) || left.kind === 'parameter') return true;
  if (isDyn(right) || right.kind === 'parameter') return false;
  if (left.kind !== right.kind || nameOf(left) !== nameOf(right)) return false;
  if (left.kind === 'type') return true;
  const others = parametersOf(right);
  return parametersOf(left).every((type, at) => isLessSpecific(type, others[at] ?? dyn));
}

function occursIn(substitution: Substitution, parameter: Type & { kind: 'parameter' }, type: Type): boolean {
  if (sameType(parameter, type)) return true;
  if (type.kind === 'parameter') {
    const known = substitution.get(type.name);
    return known !== undefined && occursIn(substitution, parameter, known);
  }
  return parametersOf(type).some((inner) => occursIn(substitution, parameter, inner));
}

/** Returns the type with what its parameters stand for; others become dyn if `free` is dyn. */
export function substitute(substitution: Substitution, type: Type, free?: Type): Type {
  if (type.kind === 'parameter') {
    const known = substitution.get(type.name);
    return known === undefined ? (free ?? type) : substitute(substitution, known, free);
  }
  const parameters = parametersOf(type);
  if (parameters.length === 0) return type;
  return withParameters(
    type,
    parameters.map((inner) => substitute(substitution, inner, free)),
  );
}
