# shellcheck shell=bash
# Completion of fumehood(1) for bash: source it, or put it into bash-completion's folder.
# BEGIN words (script/manual)
_fumehood_commands="run python bash doctor policy fs bench"
_fumehood_run_valued="--level --enforce --network --wall --cpu --memory --pids --disk --inodes --file-size --files --keep --output-stop --cpus --pty --policy --env --cwd --stdin --workspace --workspace-rw --bind --python --format --receipt --spill --spill-max"
_fumehood_run_plain="--allow-weaker --json --base64 --interleave --account --quiet --help"
# END words

_fumehood() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]} i
	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$_fumehood_commands --help --version" -- "$word")
		return
	fi
	case $verb in
	run | python | bash) ;;
	doctor) mapfile -t COMPREPLY < <(compgen -W "--json --help" -- "$word") && return ;;
	policy)
		if [ "$COMP_CWORD" = 2 ]; then
			mapfile -t COMPREPLY < <(compgen -W "show check explain schema --help" -- "$word")
		else
			mapfile -t COMPREPLY < <(compgen -f -- "$word")
		fi
		return
		;;
	fs)
		if [ "$COMP_CWORD" = 2 ]; then
			mapfile -t COMPREPLY < <(compgen -W "ls get put --help" -- "$word")
		elif [[ $word = -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W "--json --parents --executable --max -o" -- "$word")
		else
			mapfile -t COMPREPLY < <(compgen -f -- "$word")
		fi
		return
		;;
	bench) mapfile -t COMPREPLY < <(compgen -W "--quick --runs --only --phases --json --help" -- "$word") && return ;;
	*) return ;;
	esac
	# After the command or the program the words are its own: files, as far as we know.
	for ((i = 2; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-c | --) break ;;
		-*) [[ " $_fumehood_run_valued " = *" ${COMP_WORDS[i]} "* ]] && i=$((i + 1)) ;;
		*) break ;;
		esac
	done
	if [ "$i" -lt "$COMP_CWORD" ]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
	fi
	case $before in
	--level) mapfile -t COMPREPLY < <(compgen -W "process namespace" -- "$word") ;;
	--enforce) mapfile -t COMPREPLY < <(compgen -W "best kernel" -- "$word") ;;
	--network) mapfile -t COMPREPLY < <(compgen -W "none" -- "$word") ;;
	--pty) mapfile -t COMPREPLY < <(compgen -W "true false" -- "$word") ;;
	--format) mapfile -t COMPREPLY < <(compgen -W "observation retool raw json" -- "$word") ;;
	--workspace | --workspace-rw | --spill) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
	--policy | --stdin | --receipt | --bind | --python) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
	*)
		if [[ $word = -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W "$_fumehood_run_valued $_fumehood_run_plain -c --" -- "$word")
		elif [ "$verb" = run ]; then
			mapfile -t COMPREPLY < <(compgen -c -- "$word")
		else
			mapfile -t COMPREPLY < <(compgen -f -- "$word")
		fi
		;;
	esac
}
complete -o filenames -F _fumehood fumehood
