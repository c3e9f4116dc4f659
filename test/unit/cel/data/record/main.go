package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

type out struct {
	Expression string  `json:"expression"`
	Error      string  `json:"error,omitempty"`
	Type       string  `json:"type,omitempty"`
	Min        uint64  `json:"min"`
	Max        uint64  `json:"max"`
	Cost       *uint64 `json:"cost,omitempty"`
	Value      any     `json:"value,omitempty"`
	Failure    string  `json:"failure,omitempty"`
}

func show(v ref.Val) any {
	switch t := v.(type) {
	case types.Int:
		return fmt.Sprintf("int:%d", int64(t))
	case types.Uint:
		return fmt.Sprintf("uint:%d", uint64(t))
	case types.Double:
		return fmt.Sprintf("double:%v", float64(t))
	case types.String:
		return string(t)
	case types.Bool:
		return bool(t)
	case types.Null:
		return nil
	case types.Bytes:
		return fmt.Sprintf("bytes:%x", []byte(t))
	case types.Duration:
		return "duration:" + t.Duration.String()
	case types.Timestamp:
		return "timestamp:" + string(t.ConvertToType(types.StringType).(types.String))
	case traits.Lister:
		l := []any{}
		for it := t.Iterator(); it.HasNext() == types.True; {
			l = append(l, show(it.Next()))
		}
		return l
	case traits.Mapper:
		m := map[string]any{}
		for it := t.Iterator(); it.HasNext() == types.True; {
			k := it.Next()
			m[fmt.Sprint(show(k))] = show(t.Get(k))
		}
		return m
	case *types.Optional:
		if t.HasValue() {
			return map[string]any{"optional": show(t.GetValue())}
		}
		return "optional.none"
	}
	return fmt.Sprintf("%s", v.Type().TypeName())
}

type sizer struct{}

func (sizer) EstimateSize(element checker.AstNode) *checker.SizeEstimate { return nil }
func (sizer) EstimateCallCost(f, o string, target *checker.AstNode, args []checker.AstNode) *checker.CallEstimate {
	return nil
}

func main() {
	var vars map[string]any
	_ = utiljson.Unmarshal([]byte(os.Args[1]), &vars)
	set := environment.MustBaseEnvSet(version.MajorMinor(1, 32), true)
	env, err := set.Env(environment.NewExpressions)
	if err != nil {
		panic(err)
	}
	opts := []cel.EnvOption{}
	for k := range vars {
		opts = append(opts, cel.Variable(k, cel.DynType))
	}
	env, err = env.Extend(opts...)
	if err != nil {
		panic(err)
	}
	sc := bufio.NewScanner(os.Stdin)
	sc.Buffer(make([]byte, 1<<20), 1<<24)
	enc := json.NewEncoder(os.Stdout)
	enc.SetEscapeHTML(false)
	for sc.Scan() {
		var e string
		if json.Unmarshal(sc.Bytes(), &e) != nil {
			continue
		}
		o := out{Expression: e}
		ast, iss := env.Compile(e)
		if iss != nil {
			o.Error = "compilation failed: " + iss.String()
			enc.Encode(o)
			continue
		}
		o.Type = ast.OutputType().String()
		est, err := env.EstimateCost(ast, &library.CostEstimator{SizeEstimator: sizer{}})
		if err == nil {
			o.Min, o.Max = est.Min, est.Max
		}
		prg, err := env.Program(ast, cel.CostTracking(&library.CostEstimator{}))
		if err != nil {
			o.Error = "program instantiation failed: " + err.Error()
			enc.Encode(o)
			continue
		}
		v, det, err := prg.Eval(vars)
		if det != nil {
			o.Cost = det.ActualCost()
		}
		if err != nil {
			o.Failure = err.Error()
		} else {
			o.Value = show(v)
		}
		enc.Encode(o)
	}
}
