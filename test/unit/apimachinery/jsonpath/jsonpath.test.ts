import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluateTemplate, findAll } from '../../../../src/apimachinery/jsonpath/evaluate.ts';
import { parsePath, parseTemplate } from '../../../../src/apimachinery/jsonpath/parse.ts';

const data = {
  kind: 'List',
  items: [
    {
      metadata: { name: 'a', labels: { 'app.kubernetes.io/name': 'web', x: 'it\'s "x"' } },
      spec: { replicas: 3, ports: [80, 443, 8080], on: true },
      status: { conditions: [{ type: 'Ready', status: 'True' }], none: null },
    },
    {
      metadata: { name: 'b', labels: {} },
      nullable: true,
      spec: { replicas: 10, ports: [], on: false },
      status: { conditions: [{ type: 'Ready', status: 'False' }, { type: 'Old' }] },
    },
  ],
};

const cases: [template: string, expected: string][] = [
  ['', ''],
  ['plain', 'plain'],
  ['{.kind}', 'List'],
  ['{ .kind }', 'List'],
  ['{kind}', 'List'],
  ['{$.kind}', 'List'],
  ['{@.kind}', 'List'],
  ['kind: {.kind}!', 'kind: List!'],
  ['{.items[*].metadata.name}', 'a b'],
  ['{.items.*.metadata.name}', 'a b'],
  ['{.items[0].metadata.name}', 'a'],
  ['{.items[-1].metadata.name}', 'b'],
  ['{.items[0,1].metadata.name}', 'a b'],
  ["{.items[0]['metadata','spec'].name}", 'a'],
  ['{.items[0].spec.ports[0:2]}', '80 443'],
  ['{.items[0].spec.ports[1:]}', '443 8080'],
  ['{.items[0].spec.ports[:-1]}', '80 443'],
  ['{.items[0].spec.ports[::2]}', '80 8080'],
  ['{.items[0].spec.ports[-2:]}', '443 8080'],
  ['{.items[0].spec.ports[3:]}', ''],
  ['{.items[0].spec.ports[5:5]}', ''],
  ['{.items[1].spec.ports[:]}', ''],
  ['{.items[0].spec.ports}', '[80,443,8080]'],
  ['{.items[0].status}', '{"conditions":[{"status":"True","type":"Ready"}],"none":null}'],
  ['{.items[0].metadata.labels.app\\.kubernetes\\.io/name}', 'web'],
  ["{.items[0].metadata.labels['app.kubernetes.io/name']}", 'web'],
  ['{.items[0].metadata.labels["app.kubernetes.io/name"]}', 'web'],
  ['{..name}', 'a b'],
  ['{.items[0].metadata..name}', 'a'],
  ['{.items[*]..type}', 'Ready Ready Old'],
  ['{.items[?(@.spec.replicas==3)].metadata.name}', 'a'],
  ['{.items[?(@.spec.replicas!=3)].metadata.name}', 'b'],
  ['{.items[?(@.spec.replicas > 3)].metadata.name}', 'b'],
  ['{.items[?(@.spec.replicas<=3)].metadata.name}', 'a'],
  ['{.items[?(@.spec.on==true)].metadata.name}', 'a'],
  ['{.items[?(@.metadata.name=="b")].spec.replicas}', '10'],
  ["{.items[?(@.metadata.name >= 'b')].spec.replicas}", '10'],
  ['{.items[?(@.metadata.name>5)].spec.replicas}', ''],
  ['{.items[?(@.metadata.name>=5)].spec.replicas}', ''],
  ['{.items[?(@.metadata.name<=5)].spec.replicas}', ''],
  ['{.items[?(@.status.none)].metadata.name}', 'a'],
  ['{.items[?(@.status.none!="x")].metadata.name}', 'a'],
  ['{.items[?(@.missing==@.absent)].metadata.name}', ''],
  ['{.items[?(nullable)].metadata.name}', 'b'],
  ['{.items[1].status.conditions[?(@.status!="True")].type}', 'Ready'],
  ['{.items[0].status.conditions[?(@.type=="Ready")].status}', 'True'],
  ['{.items[*].status.conditions[?(@.status)].status}', 'True False'],
  ['{range .items[*]}{.metadata.name}={.spec.replicas}{"\\n"}{end}', 'a=3\nb=10\n'],
  ["{range .items[*]}{.metadata.name}:{range .spec.ports[*]}{@}{','}{end};{end}", 'a:80,443,8080,;b:;'],
  ["{\"a\\tb\"} {'c\\'d'}", "a\tb c'd"],
  ['{.missing}', ''],
  ['{.missing.deeper[*].x}', ''],
  ['{.items[0].status.none}', ''],
  ['{.items[0].spec.on}', 'true'],
  // A range without an end, unions of paths, and empty braces, as kubectl 1.32 evaluates them.
  ['{range .items[*]}{.metadata.name},', 'a,b,,'],
  ['{range .items[0].metadata}{.name} {kind}', 'a  List'],
  ['{range .items[*]}{range .spec.ports[*]}{@} {end}{.metadata.name};', '80 443 8080 a;b;;'],
  ["{.items[*]['metadata.name','spec.replicas']}", 'a b 3 10'],
  ["{.items[0]['metadata.name']}", 'a'],
  ["{.items[0].metadata.labels['app\\.kubernetes\\.io/name']}", 'web'],
  ['{.toString}{.__proto__}{.items.length}', ''],
];
for (const [template, expected] of cases) {
  test(`jsonpath ${template} is evaluated`, () => {
    assert.equal(evaluateTemplate(parseTemplate(template), data), expected);
  });
}

const wrong: [template: string, message: RegExp][] = [
  ['{.kind', /unclosed action at character 7/],
  ['{range .items[*]}{range .spec.ports[*]}x', /several \{range\} without \{end\}/],
  ['{end}', /\{end\} without \{range\}/],
  ['{.items[}', /invalid array index/],
  ['{.items[0}', /expected '\]' at character 10/],
  ['{.items[?(@.a==]}', /unrecognized character "\]"/],
  ['{.items[?(@.a=="x"]}', /expected '\)\]'/],
  ['{"x}', /unterminated quoted string/],
  ['{%}', /unrecognized character "%" at character 2/],
];
for (const [template, message] of wrong) {
  test(`jsonpath ${template} is refused`, () => {
    assert.throws(() => parseTemplate(template), { name: 'UsageError', message });
  });
}

test('an index outside its list is an error, as in kubectl', () => {
  const nodes = parseTemplate('{.items[7].kind}');
  assert.throws(() => evaluateTemplate(nodes, data), /array index out of bounds: index 7, length 2/);
});

test('empty braces stand for the whole object', () => {
  assert.equal(evaluateTemplate(parseTemplate('{}'), { b: 1, a: [] }), '{"a":[],"b":1}');
});

test('an index of an object is an error, as in kubectl, and one of a missing field is not', () => {
  assert.throws(() => evaluateTemplate(parseTemplate('{.items[0].metadata[0]}'), data), /needs a list/);
  assert.equal(evaluateTemplate(parseTemplate('{.missing[0]}'), data), '');
});

for (const [part, message] of [
  ['[4:]', /array index out of bounds: index 4, length 3/],
  ['[:4]', /array index out of bounds: index 3, length 3/],
  ['[-4:]', /array index out of bounds: index -1, length 3/],
  ['[2:1]', /starting index 2 is greater than ending index 1/],
  ['[::0]', /step must be > 0/],
  ['[::-1]', /step must be > 0/],
] satisfies [string, RegExp][]) {
  test(`a slice outside its list is an error, as in kubectl: ${part}`, () => {
    const nodes = parseTemplate(`{.items[0].spec.ports${part}}`);
    assert.throws(() => evaluateTemplate(nodes, data), message);
  });
}

for (const path of ['.spec.replicas', 'spec.replicas', '{.spec.replicas}', '{ spec.replicas }']) {
  test(`the path ${path} without a template is evaluated`, () => {
    assert.deepEqual(findAll(parsePath(path), data.items[0]), [3]);
  });
}

test('the evaluation of a path that visits too many values is aborted', () => {
  const wide = { items: Array.from({ length: 50 }, (_, at) => ({ at })) };
  assert.equal(findAll(parsePath('.items[*].at'), wide, 200).length, 50);
  assert.throws(() => findAll(parsePath('{..*..*}'), wide, 200), /more than 200 values are visited/);
});
