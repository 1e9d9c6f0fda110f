/**
 * Colours TypeScript by TypeScript's own scanner: no second grammar, no dependency.
 *
 * The scanner needs to be told two things a parser would know: whether a `/` starts
 * a regular expression (it does unless a value came before it), and whether a `}`
 * ends a template's `${`.
 */
import type { SyntaxKind as Kind } from "typescript";
import { escapeHtml } from "../../executor/escape.js";
import { ts } from "../../executor/typescript.js";

type TokenClass = "keyword" | "string" | "number" | "comment" | "regex" | "function" | "type" | "";

const { SyntaxKind } = ts;

/** Tokens after which a `/` divides. */
// prettier-ignore
const values = new Set([
  SyntaxKind.Identifier, SyntaxKind.PrivateIdentifier, SyntaxKind.NumericLiteral, SyntaxKind.BigIntLiteral,
  SyntaxKind.StringLiteral, SyntaxKind.NoSubstitutionTemplateLiteral, SyntaxKind.TemplateTail,
  SyntaxKind.RegularExpressionLiteral, SyntaxKind.CloseParenToken, SyntaxKind.CloseBracketToken,
  SyntaxKind.CloseBraceToken, SyntaxKind.ThisKeyword, SyntaxKind.SuperKeyword, SyntaxKind.TrueKeyword,
  SyntaxKind.FalseKeyword, SyntaxKind.NullKeyword, SyntaxKind.PlusPlusToken, SyntaxKind.MinusMinusToken,
]);

const strings = new Set<Kind>([
  SyntaxKind.StringLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateHead,
  SyntaxKind.TemplateMiddle,
  SyntaxKind.TemplateTail,
]);

/** Code as HTML: spans with classes `tok-keyword`, `tok-string`, …; everything escaped. */
export function highlight(code: string): string {
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, false, ts.LanguageVariant.Standard, code);
  const out: string[] = [];
  const templates: number[] = []; // open braces inside each template substitution
  let previous: Kind = SyntaxKind.Unknown;
  for (let kind = scanner.scan(); kind !== SyntaxKind.EndOfFileToken; kind = scanner.scan()) {
    if (kind === SyntaxKind.SlashToken || kind === SyntaxKind.SlashEqualsToken) {
      if (!values.has(previous)) kind = scanner.reScanSlashToken();
    } else if (kind === SyntaxKind.TemplateHead) {
      templates.push(0);
    } else if (templates.length > 0) {
      const depth = templates.at(-1) ?? 0;
      if (kind === SyntaxKind.OpenBraceToken) templates[templates.length - 1] = depth + 1;
      if (kind === SyntaxKind.CloseBraceToken) {
        if (depth > 0) templates[templates.length - 1] = depth - 1;
        else kind = scanner.reScanTemplateToken(false);
        if (kind === SyntaxKind.TemplateTail) templates.pop();
      }
    }
    const text = scanner.getTokenText();
    const name = classOf(kind, text, code.slice(scanner.getTokenEnd()), previous);
    out.push(name === "" ? escapeHtml(text) : `<span class="tok-${name}">${escapeHtml(text)}</span>`);
    if (kind > SyntaxKind.LastTriviaToken) previous = kind;
  }
  return out.join("");
}

function classOf(kind: Kind, text: string, rest: string, previous: Kind): TokenClass {
  if (kind === SyntaxKind.SingleLineCommentTrivia || kind === SyntaxKind.MultiLineCommentTrivia)
    return "comment";
  if (kind === SyntaxKind.RegularExpressionLiteral) return "regex";
  if (kind === SyntaxKind.NumericLiteral || kind === SyntaxKind.BigIntLiteral) return "number";
  if (strings.has(kind)) return "string";
  const isMember = previous === SyntaxKind.DotToken || previous === SyntaxKind.QuestionDotToken;
  const isKey = /^\s*\??:/.test(rest) && kind > SyntaxKind.LastReservedWord;
  if (kind >= SyntaxKind.FirstKeyword && kind <= SyntaxKind.LastKeyword && !isMember && !isKey)
    return "keyword";
  if (kind === SyntaxKind.Identifier || isMember) {
    if (rest.startsWith("(")) return "function";
    if (/^[A-Z]/.test(text)) return "type";
  }
  return "";
}
