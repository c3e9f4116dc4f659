/** The type checker: gives every node its type and every call its overloads (cel-go checker/checker.go). */
import type { Environment } from '../environment.ts';
import { namedType, variableType } from '../environment.ts';
import { compileError, type Issue } from '../error.ts';
import { functionTable } from '../functions/library.ts';
import type { Overload } from '../functions/overload.ts';
import type {
  CallNode,
  Expression,
  FoldNode,
  ListNode,
  MapNode,
  SelectNode,
  StructNode,
} from '../syntax/tree.ts';
import * as types from '../types/type.ts';
import { isDyn, isError, optionalOf, showType, type Type, withoutOptional } from '../types/type.ts';
import { assignable, assignableAll, moreGeneral, Substitution, substitute } from '../types/unify.ts';
import { Uint } from '../values/value.ts';

/** Checks the tree and completes it. Throws a CelError that has all faults. Returns the type of the whole. */
export function check(expression: string, tree: Expression, environment: Environment): Type {
  const checker = new Checker(environment);
  const type = checker.whole(tree);
  if (checker.issues.length > 0) throw compileError(expression, checker.issues);
  return type;
}

interface Scope {
  readonly parent: Scope | undefined;
  readonly names: ReadonlyMap<string, Type>;
}

class Checker {
  readonly issues: Issue[] = [];
  private readonly environment: Environment;
  private readonly substitution = new Substitution();
  private readonly seen: Expression[] = [];
  private scope: Scope | undefined;
  private made = 0;

  constructor(environment: Environment) {
    this.environment = environment;
  }

  whole(tree: Expression): Type {
    this.check(tree);
    for (const node of this.seen)
      node.type = substitute(this.substitution, node.type ?? types.dyn, types.dyn);
    return tree.type ?? types.dyn;
  }

  /** Returns the type of the node. A node that stands in two places is checked once. */
  private check(node: Expression): Type {
    if (node.type !== undefined) return node.type;
    const type = this.typeOf(node);
    node.type = type;
    this.seen.push(node);
    return type;
  }

  private typeOf(node: Expression): Type {
    switch (node.kind) {
      case 'const':
        return literalType(node.value);
      case 'ident':
        return this.named(node.name) ?? this.undeclared(node.offset, node.name);
      case 'select':
        return this.select(node);
      case 'call':
        return this.call(node);
      case 'list':
        return this.list(node);
      case 'map':
        return this.map(node);
      case 'struct':
        return this.object(node);
      case 'fold':
        return this.fold(node);
    }
  }

  /**
   * Returns the type of a variable, or of the type that has this name. A leading dot skips the variables of
   * loops.
   */
  private named(name: string): Type | undefined {
    const isRoot = name.startsWith('.');
    for (let scope = isRoot ? undefined : this.scope; scope; scope = scope.parent) {
      const found = scope.names.get(name);
      if (found) return found;
    }
    const own = isRoot ? name.slice(1) : name;
    const declared = variableType(this.environment, own);
    if (declared) return declared;
    const type = namedType(own);
    return type && { kind: 'type', of: type };
  }

  private undeclared(offset: number, name: string): Type {
    return this.report(offset, `undeclared reference to '${name}' (in container '')`);
  }

  private report(offset: number, message: string): Type {
    this.issues.push({ offset, message });
    return types.errorType;
  }

  private select(node: SelectNode): Type {
    const path = node.test ? undefined : pathOf(node);
    const whole = path === undefined || this.isLocal(path) ? undefined : this.named(path);
    if (path !== undefined && whole !== undefined) {
      node.qualified = path;
      return whole;
    }
    const field = this.field(node.offset, node.operand, node.field);
    return node.test ? types.bool : field;
  }

  /** Returns whether the first name of a path is a variable of a loop. */
  private isLocal(path: string): boolean {
    const first = path.slice(0, path.indexOf('.'));
    for (let { scope } = this; scope; scope = scope.parent) if (scope.names.has(first)) return true;
    return false;
  }

  private field(offset: number, operand: Expression, field: string, optional = false): Type {
    const operandType = substitute(this.substitution, this.check(operand));
    const target = withoutOptional(operandType);
    const found = this.fieldOf(offset, target, field);
    const isOptional = optional || target !== operandType;
    return isOptional && !isError(found) ? optionalOf(found) : found;
  }

  private fieldOf(offset: number, target: Type, field: string): Type {
    if (target.kind === 'map') return substitute(this.substitution, target.value);
    if (target.kind === 'object') {
      const declared = types.fieldOf(target, field);
      return declared ? declared.type : this.report(offset, `undefined field '${field}'`);
    }
    if (target.kind === 'parameter') {
      assignable(this.substitution, types.dyn, target);
      return types.dyn;
    }
    if (isDyn(target) || isError(target)) return types.dyn;
    return this.report(offset, `type '${showType(target)}' does not support field selection`);
  }

  private call(node: CallNode): Type {
    if (node.name === '_?._') return this.optionalSelect(node);
    const args = node.args.map((arg) => this.check(arg));
    const { target } = node;
    if (target === undefined) return this.resolve(node, node.name.replace(/^\./, ''), args, false);
    const path = pathOf(target);
    const qualified = path === undefined ? undefined : `${path.replace(/^\./, '')}.${node.name}`;
    if (qualified !== undefined && functionTable.has(qualified)) {
      node.name = qualified;
      node.target = undefined;
      return this.resolve(node, qualified, args, false);
    }
    return this.resolve(node, node.name, [this.check(target), ...args], true);
  }

  private optionalSelect(node: CallNode): Type {
    const [operand, field] = node.args;
    if (operand === undefined || field?.kind !== 'const' || typeof field.value !== 'string')
      throw new Error('an optional selection has an operand and a field');
    this.check(field);
    node.overloads = functionTable.get('_?._') ?? [];
    return this.field(node.offset, operand, field.value, true);
  }

  private resolve(node: CallNode, name: string, args: readonly Type[], member: boolean): Type {
    const candidates = functionTable.get(name);
    if (candidates === undefined) return this.undeclared(node.offset, name);
    const matching: Overload[] = [];
    let result: Type | undefined;
    for (const overload of candidates) {
      if (overload.member !== member) continue;
      const found = this.applied(overload, args);
      if (found === undefined) continue;
      matching.push(overload);
      result = result === undefined || types.sameType(result, found) ? found : types.dyn;
    }
    node.overloads = matching;
    return result ?? this.noOverload(node.offset, name, args, member);
  }

  /** Returns the type of the result, if the overload takes these arguments. */
  private applied(overload: Overload, args: readonly Type[]): Type | undefined {
    if (overload.parameters.length !== args.length) return undefined;
    if (!overload.isGeneric)
      return assignableAll(this.substitution, args, overload.parameters) ? overload.result : undefined;
    const fresh = new Substitution();
    const rename = (type: Type): Type => this.renamed(fresh, type);
    if (!assignableAll(this.substitution, args, overload.parameters.map(rename))) return undefined;
    return substitute(this.substitution, rename(overload.result));
  }

  /** Replaces the parameters of an overload by new ones, since each call has its own. */
  private renamed(fresh: Substitution, type: Type): Type {
    if (type.kind === 'parameter') {
      const known = fresh.get(type.name);
      if (known) return known;
      const made = this.newParameter();
      fresh.set(type.name, made);
      return made;
    }
    const inner = types.parametersOf(type);
    if (inner.length === 0) return type;
    return types.withParameters(
      type,
      inner.map((each) => this.renamed(fresh, each)),
    );
  }

  private newParameter(): Type {
    return { kind: 'parameter', name: `_var${this.made++}` };
  }

  private noOverload(offset: number, name: string, args: readonly Type[], member: boolean): Type {
    const shown = args.map((type) => showType(substitute(this.substitution, type, types.dyn)));
    const receiver = member ? `${shown.shift()}.` : '';
    const applied = `${receiver}(${shown.join(', ')})`;
    return this.report(offset, `found no matching overload for '${name}' applied to '${applied}'`);
  }

  private list(node: ListNode): Type {
    let joined: Type | undefined;
    for (const { value, optional } of node.elements)
      joined = this.join(joined, this.entryType(value, optional));
    return types.listOf(joined ?? this.newParameter());
  }

  private map(node: MapNode): Type {
    let key: Type | undefined;
    let value: Type | undefined;
    for (const entry of node.entries) {
      key = this.join(key, this.check(entry.key));
      value = this.join(value, this.entryType(entry.value, entry.optional));
    }
    return types.mapOf(key ?? this.newParameter(), value ?? this.newParameter());
  }

  private object(node: StructNode): Type {
    const type = this.environment.madeType?.(node.name.replace(/^\./, ''));
    if (type === undefined) return this.undeclared(node.offset, node.name);
    for (const { offset, field, value, optional } of node.fields) {
      const found = this.entryType(value, optional);
      const declared = types.fieldOf(type, field);
      if (!declared) this.report(offset, `undefined field '${field}'`);
      else if (!assignable(this.substitution, declared.type, found)) {
        const [wanted, given] = [showType(declared.type), showType(substitute(this.substitution, found))];
        const why = `expected type of field '${field}' is '${wanted}' but provided type is '${given}'`;
        this.report(offset, why);
      }
    }
    return type;
  }

  private entryType(node: Expression, optional: boolean): Type {
    const type = this.check(node);
    if (!optional) return type;
    const inner = withoutOptional(type);
    if (inner === type && !isDyn(type)) this.mismatch(node.offset, optionalOf(type), type);
    return inner;
  }

  private mismatch(offset: number, expected: Type, found: Type): Type {
    return this.report(offset, `expected type '${showType(expected)}' but found '${showType(found)}'`);
  }

  /** Joins the types of the elements of one literal. The validation refuses elements of several types. */
  private join(previous: Type | undefined, current: Type): Type {
    if (previous === undefined) return current;
    return assignable(this.substitution, previous, current) ? moreGeneral(previous, current) : types.dyn;
  }

  private fold(node: FoldNode): Type {
    const range = this.check(node.range);
    const accumulated = this.check(node.init);
    const outer = this.scope;
    this.scope = { parent: outer, names: new Map([[node.accumulator, accumulated]]) };
    const inside = this.scope;
    this.scope = { parent: inside, names: this.loopVariables(node, substitute(this.substitution, range)) };
    this.expect(node.condition, types.bool);
    this.expect(node.step, accumulated);
    this.scope = inside;
    const result = this.check(node.result);
    this.scope = outer;
    return substitute(this.substitution, result);
  }

  private loopVariables(node: FoldNode, range: Type): Map<string, Type> {
    const [first, second] = this.loopTypes(node, range);
    const names = new Map([
      [node.variable, node.variable2 === undefined && range.kind === 'list' ? second : first],
    ]);
    if (node.variable2 !== undefined) names.set(node.variable2, second);
    return names;
  }

  /** Returns the types of index and element, or of key and value. */
  private loopTypes(node: FoldNode, range: Type): [Type, Type] {
    if (range.kind === 'list') return [types.int, range.element];
    if (range.kind === 'map') return [range.key, range.value];
    if (range.kind === 'parameter') assignable(this.substitution, types.dyn, range);
    else if (!isDyn(range) && !isError(range)) {
      const only = '(must be list, map, or dynamic)';
      this.report(
        node.range.offset,
        `expression of type '${showType(range)}' cannot be range of a comprehension ${only}`,
      );
      return [types.errorType, types.errorType];
    }
    return [types.dyn, types.dyn];
  }

  private expect(node: Expression, wanted: Type): void {
    const found = this.check(node);
    if (!assignable(this.substitution, wanted, found)) this.mismatch(node.offset, wanted, found);
  }
}

function literalType(value: unknown): Type {
  switch (typeof value) {
    case 'boolean':
      return types.bool;
    case 'bigint':
      return types.int;
    case 'number':
      return types.double;
    case 'string':
      return types.string;
    default:
      if (value === null) return types.nullType;
      return value instanceof Uint ? types.uint : types.bytes;
  }
}

/** Returns the path of names that the node is, such as `a.b.c`. */
function pathOf(node: Expression): string | undefined {
  const names: string[] = [];
  let at = node;
  for (; at.kind === 'select' && !at.test; at = at.operand) names.unshift(at.field);
  if (at.kind !== 'ident') return undefined;
  names.unshift(at.name);
  return names.join('.');
}
