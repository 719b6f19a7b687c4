/* Chat control tokens; see chat_tokens.h. Only what the form does not cover stands in the lists: no <|...|>
 * here. */
#include "formats/chat_tokens.h"

#include <string.h>

#include "base/own.h"

/* Longest name between the bars; no published one is longer. */
#define NAME_BYTES_MAX 96

static const char *const llama2[] = {"<s>", "</s>", "<unk>", "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>"};

static const char *const mistral[] = {
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_CALLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CONTENT]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[ARGS]",
    "[CALL_ID]",
    "[THINK]",
    "[/THINK]",
    "[IMG]",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[BEGIN_AUDIO]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
};

static const char *const gemma[] = {
    "<bos>",
    "<eos>",
    "<pad>",
    "<mask>",
    "<start_of_turn>",
    "<end_of_turn>",
    "<start_of_image>",
    "<end_of_image>",
    "<image_soft_token>",
    "<start_function_declaration>",
    "<end_function_declaration>",
    "<start_function_call>",
    "<end_function_call>",
    "<start_function_response>",
    "<end_function_response>",
};

/* Beside <|im_start|> and its kin. */
static const char *const qwen[] = {
    "<think>",         "</think>",         "<tool_call>", "</tool_call>",
    "<tool_response>", "</tool_response>", "<tools>",     "</tools>",
};

static const char *const deepseek[] = {"<think>", "</think>", "<｜DSML｜", "</｜DSML｜"};

static const char *const command_r[] = {
    "<BOS_TOKEN>", "<EOS_TOKEN>", "<PAD_TOKEN>",  "<UNK_TOKEN>",
    "<CLS>",       "<SEP>",       "<MASK_TOKEN>", "<EOP_TOKEN>",
};

static const char *const glm[] = {
    "[gMASK]", "[sMASK]",   "[MASK]",     "<sop>",       "<eop>",
    "<eod>",   "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>",
};

static const char *const minimax[] = {
    "]~!b[", "]~b]", "[e~[", "]!p~[", "<minimax:tool_call>", "</minimax:tool_call>"};

static const char *const seed[] = {
    "<seed:bos>",    "<seed:eos>",       "<seed:pad>",        "<seed:think>",
    "</seed:think>", "<seed:tool_call>", "</seed:tool_call>",
};

static const char *const bert_t5[] = {"[CLS]", "[SEP]", "[PAD]", "[UNK]", "<extra_id_"};

/* Harnesses that speak in tags rather than tokens. */
static const char *const tags[] = {
    "<function_calls>", "</function_calls>", "<function_results>", "</function_results>",
    "<tool_result>",    "</tool_result>",    "<observation>",      "</observation>",
    "<interpreter>",    "</interpreter>",    "<system>",           "</system>",
};

#define FAMILY(name, list)                                                                                   \
	{                                                                                                    \
		name, list, FH_ARRAY_LEN(list)                                                               \
	}
/* chatml, llama 3 and 4, phi, granite, harmony (gpt-oss) and kimi write only what the form covers. */
const struct fh_chat_family fh_chat_families[] = {
    FAMILY("llama2", llama2),   FAMILY("mistral", mistral),   FAMILY("gemma", gemma),
    FAMILY("qwen", qwen),       FAMILY("deepseek", deepseek), FAMILY("command-r", command_r),
    FAMILY("glm", glm),         FAMILY("minimax", minimax),   FAMILY("seed", seed),
    FAMILY("bert-t5", bert_t5), FAMILY("tags", tags),
};
const size_t fh_chat_families_count = FH_ARRAY_LEN(fh_chat_families);

static int is_name_byte(unsigned char c)
{
	return c > 0x20 && c != '<' && c != '>' && c != '|' && c != 0x7f;
}

/* <BAR name BAR> for one kind of bar. */
static size_t with_bar(const char *bytes, size_t n, const char *bar)
{
	size_t width = strlen(bar), from = 1 + width;

	if (n < from || memcmp(bytes + 1, bar, width) != 0)
		return 0;
	for (size_t i = from; i + width < n && i - from <= NAME_BYTES_MAX; i++) {
		if (i > from && memcmp(bytes + i, bar, width) == 0 && bytes[i + width] == '>')
			return i + width + 1;
		if (!is_name_byte((unsigned char)bytes[i]))
			return 0;
	}
	return 0;
}

size_t fh_chat_token_by_form(const char *bytes, size_t n)
{
	size_t length;

	if (!n || bytes[0] != '<')
		return 0;
	length = with_bar(bytes, n, "|");
	return length ? length : with_bar(bytes, n, "\xef\xbd\x9c");
}
