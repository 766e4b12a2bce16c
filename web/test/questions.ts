// Six questions of somebody who knows nothing of the project, written before the article that must answer them. Each has the
// right answer, and words without which the article does not give it.

interface Question {
  readonly question: string;
  readonly answer: string;
  readonly words: readonly RegExp[];
}

export const questions: readonly Question[] = [
  {
    question: "A clinic has its own patients and can cluster them alone. Why should it listen to its neighbours?",
    answer: "It may have no rows, or few, of a cluster that others have; their centres show it what it cannot see.",
    words: [/no row of one/i, /never seen/i],
  },
  {
    question: "What happens at alpha 0, and what at a very large alpha?",
    answer:
      "At 0 every clinic is alone; with a large alpha all give one answer, which fits each one's own rows less well.",
    words: [/alpha 0/i, /one answer/i, /misfit/i],
  },
  {
    question: "What does a clinic send to another?",
    answer: "Only its centres, to the clinics it has a link with; rows never leave, and there is no server.",
    words: [/only .*centres/i, /no server/i, /never leave/i],
  },
  {
    question: "One clinic lies. What happens?",
    answer:
      "Without the gate it drags all others along; with it small lies pass and do little harm, large ones are left out.",
    words: [/small lie/i, /left out|lets go/i],
  },
  {
    question: "What does the guarded mode promise, and what not?",
    answer: "Nothing sent isolates fewer than ten rows; means and sizes of clusters can still be worked out.",
    words: [/fewer than ten rows/i, /means and sizes/i],
  },
  {
    question: "When should I not use it?",
    answer:
      "When rows may be pooled, when neighbours have other clusters, or when one clinic has enough rows of all of them.",
    words: [/may be pooled/i, /other clusters/i, /enough rows/i],
  },
];
